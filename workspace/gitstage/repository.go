package gitstage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The modes of entries of an index.
const (
	modeFile       = "100644"
	modeExecutable = "100755"
	modeNone       = "0" // removes the entry
)

// stageMerged is the stage of a file without a conflict.
const stageMerged = "0"

// repository is a git repository, and the name in it that is staged.
type repository struct {
	git  string // the program
	root string // the folder of the workspace
	top  string // the folder that has .git
	name string // from top, with slashes
	// locked are the folders of the repositories whose index was locked for all of lockWait when
	// it was last to be changed: nobody waits for them again until the lock is deleted.
	locked map[string]bool
	*storage
}

// indexEntry is a file in an index. Of a file with a conflict there is one for each stage.
type indexEntry struct{ mode, id, stage, name string }

// converting are the attributes for which git would store other bytes than those of
// the file, but for line ends.
var converting = []string{"filter", "working-tree-encoding", "ident"}

// errConverted says that git would store other bytes than those of the file.
var errConverted = errors.New("not staged: stage it yourself")

// wants reports whether git would stage the file, which it does not if it ignores it.
//
// # Errors
//
// [errConverted] for a file whose bytes would have to be converted.
func (r *repository) wants(ctx context.Context) (bool, error) {
	name := strings.NewReader("./" + r.name + "\x00") // a colon at the beginning would have a meaning
	ignored, err := r.run(ctx, name, "check-ignore", "-z", "--stdin")
	var status *exec.ExitError
	if errors.As(err, &status) && status.ExitCode() == 1 { // nothing is ignored
		err = nil
	}
	if err != nil || len(ignored) > 0 {
		return false, err
	}
	name.Reset("./" + r.name + "\x00")
	attributes, err := r.run(ctx, name, append([]string{"check-attr", "-z", "--stdin"}, converting...)...)
	if err != nil {
		return false, err
	}
	fields := bytes.Split(attributes, []byte("\x00")) // name, attribute, value, and so on
	for i := 0; i+2 < len(fields); i += 3 {
		if value := string(fields[i+2]); value != "unspecified" && value != "unset" {
			return false, fmt.Errorf("the file has the attribute %s, and is %w", fields[i+1], errConverted)
		}
	}
	return true, nil
}

// entries returns what the index has of the name, and below it.
func (r *repository) entries(ctx context.Context) ([]indexEntry, error) {
	if err := r.readIndex(ctx); err != nil {
		return nil, err
	}
	out, err := r.runIndex(ctx, nil, "--literal-pathspecs", "ls-files", "-z", "--stage", "--", r.name)
	if err != nil {
		return nil, err
	}
	var entries []indexEntry
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		facts, name, ok := strings.Cut(line, "\t")
		fields := strings.Fields(facts) // mode, id, stage
		if !ok || len(fields) != 3 {
			continue
		}
		entries = append(entries, indexEntry{fields[0], fields[1], fields[2], name})
	}
	return entries, nil
}

// removals returns what removes the names of entries from the index, at all stages.
func removals(entries []indexEntry) []indexEntry {
	removed := slices.Clone(entries)
	for i, e := range entries {
		removed[i] = indexEntry{modeNone, strings.Repeat("0", len(e.id)), stageMerged, e.name}
	}
	return removed
}

// safe are the options under which git runs no program that a repository names.
// Those on the command line precede all files of configuration.
var safe = []string{
	"--no-pager",
	"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.untrackedCache=false",
	"-c", "core.sshCommand=false", "-c", "credential.helper=", "-c", "protocol.allow=never", "-c", "gc.auto=0",
}

// maxOutput and maxSaid bound what is kept of the standard output and the standard
// error of git.
const (
	maxOutput = 64 << 20
	maxSaid   = 4 << 10
)

// run runs git in the repository, and returns what it prints. The command must not change anything,
// nor look at what files have, by their filters: the configuration may change at any time.
func (r *repository) run(ctx context.Context, in io.Reader, args ...string) ([]byte, error) {
	return r.runWith(ctx, environment(r.top), in, args...)
}

// runIndex runs git on the copy of the index. The objects of the repository are for reading.
func (r *repository) runIndex(ctx context.Context, in io.Reader, args ...string) ([]byte, error) {
	return r.runWith(ctx, append(r.environment(r.top), "GIT_OBJECT_DIRECTORY="+r.objectsPath), in, args...)
}

// runWith runs git with the variables env.
func (r *repository) runWith(ctx context.Context, env []string, in io.Reader, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, r.git, slices.Concat(safe, args)...)
	cmd.Dir = r.top
	cmd.Env = env
	cmd.Stdin = in
	cmd.WaitDelay = time.Second
	out, said := &output{limit: maxOutput}, &output{limit: maxSaid}
	cmd.Stdout, cmd.Stderr = out, said
	err := cmd.Run()
	switch {
	case err == nil && out.more:
		return nil, fmt.Errorf("git %s prints too much", args[0])
	case err == nil:
		return out.kept, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("git %s has not finished in time", args[0])
	}
	return out.kept, fmt.Errorf("git %s: %w", args[0], explain(err, string(said.kept)))
}

// errLocked says that another program changes the index, or has left its lock.
var errLocked = errors.New("another program has locked the index: if none is running, delete index.lock in the folder .git")

// explain returns what git has said, without its text, which has paths of the host.
func explain(err error, said string) error {
	switch {
	case strings.Contains(said, "dubious ownership"):
		return errors.New("the repository belongs to another user: add it to safe.directory")
	case strings.Contains(said, "not a git repository"):
		return errors.New("the repository is damaged")
	}
	return err
}

// environment returns the variables for git: none of its own but those that keep it in
// the repository at top, and away from remotes.
func environment(top string) []string {
	var env []string
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(strings.ToUpper(variable), "GIT_") {
			env = append(env, variable)
		}
	}
	return append(env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1",
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(top))
}

// output keeps the first bytes that are written to it.
type output struct {
	kept  []byte
	limit int
	more  bool // there were more bytes
}

// Write implements [io.Writer].
func (o *output) Write(p []byte) (int, error) {
	n := min(len(p), o.limit-len(o.kept))
	o.kept = append(o.kept, p[:n]...)
	o.more = o.more || n < len(p)
	return len(p), nil
}
