package conformance_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
	"golang.org/x/sys/unix"
)

// machine runs the commands of a reference in a directory of this computer, in which the
// files of the reference are while one runs.
type machine struct {
	provider.Store // nil: nothing but Run is called
	*reference
	defects
}

// machinePath is where machines look for programs.
const machinePath = "/usr/local/bin:/usr/bin:/bin"

// run is the Run of a reference with some defects.
func (r *reference) run(ctx context.Context, opts *workspace.RunOptions, d defects) (*workspace.RunResult, error) {
	type store struct {
		provider.Store
		provider.Runner
	}
	return provider.New(store{nil, machine{nil, r, d}}, provider.Facts{Capabilities: r.Capabilities()}).Run(ctx, opts)
}

// Run implements [workspace.Runner].
func (r *reference) Run(ctx context.Context, opts *workspace.RunOptions) (*workspace.RunResult, error) {
	return r.run(ctx, opts, defects{})
}

// Run implements [workspace.Runner].
func (h *hooked) Run(ctx context.Context, opts *workspace.RunOptions) (*workspace.RunResult, error) {
	if h.runs != nil {
		return h.runs(ctx, opts)
	}
	return h.run(ctx, opts, h.defects)
}

// Run implements [provider.Runner].
func (m machine) Run(ctx context.Context, opts workspace.RunOptions) (*workspace.RunResult, error) {
	m.mu.Lock()
	dir, err := m.directory(ctx, ops.Run, opts.Dir)
	if err == nil {
		err = m.toDisk()
	}
	m.mu.Unlock()
	if err != nil {
		return nil, err
	}
	result, err := m.start(ctx, filepath.Join(m.disk, dir), opts)
	if m.loses {
		return result, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if lost := m.fromDisk(); lost != nil {
		return nil, lost
	}
	return result, err
}

// start runs a command in a directory of this computer.
func (m machine) start(ctx context.Context, dir string, opts workspace.RunOptions) (*workspace.RunResult, error) {
	mark := "CONFORMANCE_MARK=" + rand.Text()
	if m.oneMark {
		mark = "CONFORMANCE_MARK=" + filepath.Base(m.disk)
	}
	env, path := append(m.leaks, "PATH="+machinePath, mark), machinePath
	for _, name := range slices.Sorted(maps.Keys(opts.Env)) {
		env = append(env, name+"="+opts.Env[name])
		if name == "PATH" {
			path = opts.Env[name]
		}
	}
	program, err := findProgram(dir, path, opts.Command[0])
	if err != nil {
		return nil, provider.At(opts.Command[0], err)
	}
	cmd := exec.CommandContext(ctx, program, opts.Command[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, opts.Stdout, opts.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = time.Second // for those who hold the outputs
	if m.waitsForInput {
		cmd.Stdin, cmd.WaitDelay = opts.Stdin, 0
	} else if opts.Stdin != nil {
		stdin, err := cmd.StdinPipe()
		if err != nil {
			return nil, err
		}
		defer stdin.Close()
		go func() {
			defer stdin.Close()
			_, _ = io.Copy(stdin, opts.Stdin) // a command need not read its input
		}()
	}
	err = cmd.Start()
	if errors.Is(err, syscall.E2BIG) {
		return nil, fs.ErrInvalid
	}
	if err != nil {
		return nil, provider.At(opts.Command[0], fs.ErrPermission)
	}
	waitErr := cmd.Wait()
	if !m.leaves && (ctx.Err() == nil || !m.leavesCanceled) {
		sweep(mark, cmd.Process.Pid)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case waitErr != nil && cmd.ProcessState == nil:
		return nil, waitErr
	}
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return &workspace.RunResult{ExitCode: -1, Signal: strings.TrimPrefix(unix.SignalName(status.Signal()), "SIG")}, nil
	}
	return &workspace.RunResult{ExitCode: status.ExitStatus()}, nil
}

// findProgram returns the path of a program.
func findProgram(dir, path, program string) (string, error) {
	candidates := []string{program}
	if !strings.Contains(program, "/") {
		candidates = nil
		for _, in := range filepath.SplitList(path) {
			candidates = append(candidates, filepath.Join(in, program))
		}
	}
	err := fs.ErrNotExist
	for _, candidate := range candidates {
		if !filepath.IsAbs(candidate) {
			candidate = filepath.Join(dir, candidate)
		}
		info, statErr := os.Stat(candidate)
		switch {
		case statErr != nil:
		case info.IsDir() || info.Mode()&0o111 == 0:
			err = fs.ErrPermission
		default:
			return candidate, nil
		}
	}
	return "", err
}

// sweep kills everything that has mark in its environment, or is in the session of leader.
func sweep(mark string, leader int) {
	for found := true; found; {
		found = false
		processes, err := filepath.Glob("/proc/[0-9]*")
		if err != nil {
			panic(err) // of a pattern that is constant
		}
		for _, process := range processes {
			environment, _ := os.ReadFile(process + "/environ") // it may have ended
			stat, _ := os.ReadFile(process + "/stat")
			fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
			if len(fields) < 4 || fields[0] == "Z" || fields[0] == "X" {
				continue
			}
			if bytes.Contains(environment, []byte(mark)) || fields[3] == strconv.Itoa(leader) {
				pid, err := strconv.Atoi(filepath.Base(process))
				if err != nil {
					panic(err) // of a name that is a number
				}
				found = true
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
			}
		}
	}
}

// toDisk writes the files of the state, whose mu is held, to its directory.
func (s *state) toDisk() error {
	if s.disk == "" {
		s.disk = filepath.Join(os.TempDir(), "conformance-"+rand.Text())
	}
	for _, name := range slices.Sorted(maps.Keys(s.nodes)) {
		var err error
		switch node, at := s.nodes[name], filepath.Join(s.disk, name); node.kind {
		case workspace.TypeDirectory:
			err = os.MkdirAll(at, 0o700)
		case workspace.TypeFile:
			err = os.WriteFile(at, node.data, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fromDisk reads them again.
func (s *state) fromDisk() error {
	found := map[string]bool{}
	err := filepath.WalkDir(s.disk, func(at string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(s.disk, at)
		found[name] = true
		old := s.nodes[name]
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // a command that runs still has removed it
		case err != nil:
			return err
		case entry.IsDir() && old == nil:
			s.nodes[name] = &node{kind: workspace.TypeDirectory}
		case !entry.IsDir():
			data, err := os.ReadFile(at)
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err == nil && (old == nil || !bytes.Equal(old.data, data)) {
				s.writes++
				s.nodes[name] = &node{kind: workspace.TypeFile, data: data, version: workspace.Version(strconv.Itoa(s.writes))}
			}
			return err
		}
		return nil
	})
	maps.DeleteFunc(s.nodes, func(name string, n *node) bool { return n.kind != workspace.TypeSymlink && !found[name] })
	return err
}
