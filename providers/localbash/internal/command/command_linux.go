package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// endWait bounds how long the end of processes that were killed is waited for.
const endWait = 10 * time.Second

// Runner runs programs below one folder. It is safe for concurrent use.
type Runner struct {
	root     string // absolute
	settings Settings
	path     string // the PATH of programs

	mu      sync.Mutex // guards the rest
	closed  bool
	last    int // the number of the last command
	keeper  *keeper
	sandbox *sandbox // nil until it was looked for
	running map[*context.CancelCauseFunc]struct{}
	all     sync.WaitGroup // the commands that run
}

// New returns a Runner for the folder with the absolute path root. It starts nothing.
//
// # Errors
//
// [errors.ErrUnsupported] on an operating system that cannot keep what the package
// promises.
func New(root string, s Settings) (*Runner, error) {
	return &Runner{root: root, settings: s, path: searchPath(root), running: map[*context.CancelCauseFunc]struct{}{}}, nil
}

// searchPath returns the absolute directories of the PATH of this process that are not
// below root, where anybody could put a program.
func searchPath(root string) string {
	var dirs []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) && outside(root, dir) {
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) == 0 {
		return basePath
	}
	return strings.Join(dirs, ":")
}

// outside reports whether path exists and is not below root, nor any symlink that leads to it.
func outside(root, path string) bool {
	folder, err := os.Stat(root)
	if err != nil {
		return false
	}
	path = filepath.Clean(path)
	for range 40 { // as many as Linux follows
		link := "" // the first symlink of path
		for dir := path; ; dir = filepath.Dir(dir) {
			info, err := os.Lstat(dir)
			if err != nil || os.SameFile(info, folder) {
				return false
			}
			if info.Mode()&fs.ModeSymlink != 0 {
				link = dir
			}
			if dir == "/" {
				break
			}
		}
		if link == "" {
			return true
		}
		target, err := os.Readlink(link)
		if err != nil {
			return false
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(link), target)
		}
		path = filepath.Join(target, strings.TrimPrefix(path, link))
	}
	return false
}

// Sandbox returns what the programs run in, such as "bubblewrap 0.8.0", or "no sandbox"
// with the reason.
//
// # Errors
//
// [ErrNoSandbox] if one is required and there is none, and [ErrReadable].
func (r *Runner) Sandbox(ctx context.Context) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, err := r.findSandbox(ctx)
	if err != nil {
		return "", err
	}
	return s.text, nil
}

// findSandbox looks for a sandbox once. r.mu is held.
func (r *Runner) findSandbox(ctx context.Context) (*sandbox, error) {
	if r.sandbox == nil {
		found, err := findSandbox(ctx, r.settings, r.path)
		if err != nil {
			return nil, err
		}
		r.sandbox = found
	}
	return r.sandbox, nil
}

// Close kills what runs, and everything that it has started.
func (r *Runner) Close() error {
	r.mu.Lock()
	r.closed = true
	for stop := range r.running {
		(*stop)(os.ErrClosed)
	}
	r.mu.Unlock()
	r.all.Wait()
	if r.keeper == nil {
		return nil
	}
	return r.keeper.end()
}

// begin returns what a command needs: its mark, the sandbox, and a context that Close
// ends. The caller calls end.
func (r *Runner) begin(ctx context.Context) (run context.Context, mark string, s *sandbox, end func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, "", nil, nil, os.ErrClosed
	}
	if s, err = r.findSandbox(ctx); err != nil {
		return nil, "", nil, nil, err
	}
	if r.keeper == nil {
		closeInherited()
		if r.keeper, err = newKeeper(r.root, r.path); err != nil {
			return nil, "", nil, nil, err
		}
	}
	run, stop := context.WithCancelCause(ctx)
	key := &stop
	r.running[key] = struct{}{}
	r.all.Add(1)
	r.last++
	return run, r.keeper.mark + "." + strconv.Itoa(r.last) + ".", s, func() {
		r.mu.Lock()
		delete(r.running, key)
		r.mu.Unlock()
		stop(nil)
		r.all.Done()
	}, nil
}

// Run runs c and waits for its end, and for that of every process that it has started.
// When ctx ends, they are killed.
//
// # Errors
//
// [ErrMissing], [ErrDenied], [ErrTooLong], [ErrBarred], [ErrTooDeep], [ErrFailed],
// [ErrSwapped], [ErrNoSandbox] and [ErrReadable] for a program that was not started, [ErrRemain],
// [os.ErrClosed] once the Runner is closed, and the error of ctx.
func (r *Runner) Run(ctx context.Context, c Command) (Result, error) {
	ctx, mark, s, end, err := r.begin(ctx)
	if err != nil {
		return Result{}, err
	}
	defer end()
	p, err := r.start(c, mark, s)
	if err != nil {
		return Result{}, err
	}
	defer p.streams.close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := p.release(ctx, r.root, c); err != nil {
		cancel(err)
	}
	select {
	case <-p.ended:
	case <-ctx.Done():
	}
	err = p.stop(ctx)
	if cause := context.Cause(ctx); cause != nil {
		return Result{}, cause
	}
	if err != nil {
		return Result{}, err
	}
	return p.result()
}

// closeInherited lets no command have the descriptors that this process got from the one
// that started it. The descriptors that Go opens are never passed on.
func closeInherited() {
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, name := range names {
		if fd, err := strconv.Atoi(name.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

// process is a command that was started.
type process struct {
	cmd     *exec.Cmd
	mark    string
	start   uint64 // when it began
	sandbox *sandbox
	ended   chan struct{} // closed when the first process has ended
	reap    chan struct{} // is closed to reap it: until then, its number is its own
	reaped  chan struct{}
	streams *streams
	report  *capture
	hold    *os.File // of the sandbox; a byte lets the gate begin
	errors  *capture // what bubblewrap writes, until its last process has ended
}

// start starts a command.
func (r *Runner) start(c Command, mark string, s *sandbox) (*process, error) {
	dir := filepath.Join(r.root, filepath.FromSlash(c.Name))
	if s.bwrap != "" && len(dir) >= unix.PathMax {
		return nil, ErrTooDeep
	}
	p := &process{mark: mark, sandbox: s, ended: make(chan struct{}), reap: make(chan struct{}), reaped: make(chan struct{}), streams: &streams{}}
	var err error
	defer func() {
		p.streams.closeChild()
		if err != nil {
			p.streams.close()
		}
	}()
	env := map[string]string{"PATH": s.path, "HOME": r.keeper.home, "PWD": dir}
	for _, name := range []string{"LANG", "TERM"} {
		if value, ok := os.LookupEnv(name); ok {
			env[name] = value
		}
	}
	maps.Copy(env, r.settings.Env)
	maps.Copy(env, c.Env)

	in, out, stderr, err := p.streams.open(c)
	if err != nil {
		return nil, err
	}
	script, err := memory("script", gate(r.settings, c.Args, env, s.path, dir, s.bwrap != ""))
	if err != nil {
		return nil, err
	}
	defer script.Close()
	var report, errorsTo *os.File
	if p.report, report, err = p.streams.capture(); err != nil {
		return nil, err
	}
	if p.errors, errorsTo, err = p.streams.capture(); err != nil {
		return nil, err
	}
	p.cmd = &exec.Cmd{
		Path: shell, Args: []string{"sh", fmt.Sprintf("/proc/self/fd/%d", scriptFd)},
		Env:   []string{MarkName + "=" + mark},
		Stdin: in, Stdout: out, Stderr: errorsTo, ExtraFiles: []*os.File{script, report, stderr},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	}
	if s.bwrap == "" {
		p.cmd.Dir = fmt.Sprintf("/proc/self/fd/%d", c.Dir.Fd())
	} else {
		args, argsErr := memory("arguments", s.arguments(r, c))
		if err = argsErr; err != nil {
			return nil, err
		}
		defer args.Close()
		if p.hold, err = p.streams.hold(); err != nil {
			return nil, err
		}
		p.cmd.Path, p.cmd.Args, p.cmd.Dir = s.bwrap, append([]string{"bwrap", "--args", strconv.Itoa(argsFd), "--", shell}, p.cmd.Args[1:]...), "/"
		p.cmd.ExtraFiles = append(p.cmd.ExtraFiles, c.Root, args, p.hold)
	}
	begun := make(chan error)
	go p.attend(begun)
	if err = <-begun; err != nil {
		return nil, errors.Join(ErrFailed, err)
	}
	runtime.KeepAlive(c.Dir)
	p.streams.begin()
	return p, nil
}

// attend starts the process and reaps it. It keeps its thread until then, as the kernel
// kills the process when the thread ends that has started it.
func (p *process) attend(begun chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	if err == nil {
		p.start, _ = startOf(strconv.Itoa(p.cmd.Process.Pid))
	}
	begun <- err
	if err != nil {
		return
	}
	for unix.Waitid(unix.P_PID, p.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	close(p.ended)
	<-p.reap
	_ = p.cmd.Wait() // its state says the same
	close(p.reaped)
}

// stop kills every process of the command that is left, and waits for their end and
// for the last of what they have written.
func (p *process) stop(ctx context.Context) error {
	first := p.firstOfNamespace()
	_ = unix.Kill(-p.cmd.Process.Pid, unix.SIGKILL)
	var err error
	if p.sandbox.bwrap == "" || ctx.Err() != nil {
		// Outside of a namespace, or while bubblewrap makes one, only the mark
		// shows what belongs to the command.
		err = killMarked(p.mark, p.cmd.Process.Pid, p.start, time.Now().Add(endWait))
	}
	waiting, cancel := context.WithTimeout(context.Background(), endWait)
	defer cancel()
	until := waiting.Done()
	if first != nil && !waitForEnd(first, until) {
		err = ErrRemain
	}
	select {
	case <-p.ended:
	case <-until:
		err = ErrRemain
	}
	close(p.reap)
	// Bubblewrap's errors end when the last process of the namespace has ended.
	select {
	case <-p.errors.done:
	case <-until:
		err = ErrRemain
	}
	p.streams.finish(ctx)
	if err == nil {
		<-p.reaped
	}
	return err
}

// firstOfNamespace returns a descriptor of the first process of the sandbox, which ends after
// all others. It is nil without one, and after bubblewrap has ended, which waits for it.
func (p *process) firstOfNamespace() *os.File {
	if p.sandbox.bwrap == "" {
		return nil
	}
	pid := p.child()
	if pid == 0 {
		return nil
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil
	}
	file := os.NewFile(uintptr(fd), "pidfd")
	if p.child() != pid {
		file.Close() // it may be another process by now
		return nil
	}
	return file
}

// child returns the number of the only child of the process, 0 if there is none.
func (p *process) child() int {
	said, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", p.cmd.Process.Pid))
	pid, _ := strconv.Atoi(strings.TrimSpace(string(said)))
	return pid
}

// waitForEnd closes the descriptor of a process, and reports whether that has ended before
// until.
func waitForEnd(process *os.File, until <-chan struct{}) bool {
	defer process.Close()
	for {
		ready, err := unix.Poll([]unix.PollFd{{Fd: int32(process.Fd()), Events: unix.POLLIN}}, 20)
		if ready > 0 || err != nil && err != unix.EINTR {
			return err == nil
		}
		select {
		case <-until:
			return false
		default:
		}
	}
}

// result returns how the command ended. It was reaped.
func (p *process) result() (Result, error) {
	begun, report, _ := strings.Cut(p.report.text(), "\n")
	switch begun {
	case reportStarted:
	case reportMissing:
		return Result{}, ErrMissing
	case reportDenied:
		return Result{}, ErrDenied
	case reportTooLong:
		return Result{}, ErrTooLong
	case reportBarred:
		return Result{}, ErrBarred
	default:
		return Result{}, ErrFailed
	}
	status := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if p.sandbox.bwrap != "" {
		return sandboxResult(status, report)
	}
	if status.Exited() {
		return Result{ExitCode: status.ExitStatus()}, nil
	}
	return signaled(status.Signal()), nil
}

// sandboxResult returns how a command in the sandbox ended. The gate reports what its
// shell says of a signal, and the exit code. Where it does not, it was killed with the
// command.
func sandboxResult(status syscall.WaitStatus, report string) (Result, error) {
	said, last, _ := strings.Cut(strings.TrimSuffix(report, "\n"), "=")
	code, err := strconv.Atoi(last)
	switch {
	case err == nil && code >= 0 && code <= 255:
		signal := syscall.Signal(code - 128)
		if said != "" && signal > 0 || signal == unix.SIGINT || signal == unix.SIGPIPE {
			return signaled(signal), nil
		}
		return Result{ExitCode: code}, nil
	case status.Signaled():
		return signaled(status.Signal()), nil
	case status.ExitStatus() > 128:
		return signaled(syscall.Signal(status.ExitStatus() - 128)), nil
	}
	return Result{}, ErrFailed
}

// signaled returns the result of a command that a signal has ended.
func signaled(signal syscall.Signal) Result {
	name := strings.TrimPrefix(unix.SignalName(signal), "SIG")
	if name == "" {
		name = strconv.Itoa(int(signal))
	}
	return Result{ExitCode: -1, Signal: name}
}

// memory returns a file in memory with data.
func memory(name string, data []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("workspacekit-"+name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err = f.Write(data); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// minLooks is how many lists of processes are looked at, however long that takes: with
// thousands of processes, and many commands that end at a time, one look takes seconds.
const minLooks = 10

// execWait bounds how long a process without an environment is watched: it has none while
// the kernel replaces its program or ends it.
const execWait = 200 * time.Millisecond

// killMarked kills the processes with the mark or of the session until there are none, and none
// of them is about to end. They began at start or later. It gives up at the time until, but not
// before minLooks looks.
//
// A list of processes is older than what is read of each: a process of the list can have
// started another one and ended since. So a list counts only if every process of it that
// has ended was in the list before, too.
func killMarked(mark string, session int, start uint64, until time.Time) error {
	k := killer{
		variable: []byte(MarkName + "=" + mark + "\x00"), session: strconv.Itoa(session), start: start,
		killed: map[string]bool{}, others: map[string]bool{},
	}
	unknown := time.Time{}
	pause := time.Millisecond
	for looks := 1; ; looks++ {
		switch found, unclear := k.once(); {
		case found:
			unknown = time.Time{}
			clear(k.others) // as their numbers may be given again
		case !unclear:
			return nil
		case unknown.IsZero():
			unknown = time.Now()
			continue
		case time.Since(unknown) > execWait:
			return nil
		}
		if looks >= minLooks && time.Now().After(until) {
			return ErrRemain
		}
		time.Sleep(pause)
		pause = min(2*pause, 50*time.Millisecond)
	}
}

// A killer kills the processes that have a variable in their environment, or are in a session.
type killer struct {
	variable []byte
	session  string
	start    uint64          // when the first of them began
	killed   map[string]bool // by their names in /proc
	others   map[string]bool // the processes that lack it or have ended, by their names in /proc
	env      []byte          // for environment
}

// once kills those that it finds. It reports whether there were any, or one is about to end,
// and whether there may be more: processes without an environment that began at start or later, or some that one
// started which has ended since.
func (k *killer) once() (found, unclear bool) {
	proc, err := os.Open("/proc")
	if err != nil {
		return false, true
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == os.Getpid() || k.others[name] {
			continue
		}
		env, err := k.environment(name)
		switch {
		case bytes.Contains(env, k.variable), err == nil && k.inSession(pid, name):
			found, k.killed[name] = true, true
			k.kill(pid, name)
		case errors.Is(err, os.ErrPermission) || len(env) > 0:
			k.others[name] = true
		default: // it ends, has ended, has another program soon, or is the kernel's own
			began, exits := startOf(name)
			k.others[name] = began < max(1, k.start)
			found = found || exits != "" && (k.killed[name] || exits == k.session)
			unclear = unclear || began == 0 || began >= k.start
		}
	}
	return found, unclear
}

// inSession reports whether a process that can be killed is in the session, which may have
// programs without the variable.
func (k *killer) inSession(pid int, name string) bool {
	session, err := unix.Getsid(pid)
	if err != nil || strconv.Itoa(session) != k.session {
		return false
	}
	began, _ := startOf(name)
	return began > 0
}

// kill kills a process if it still has the variable, or is still in the session.
func (k *killer) kill(pid int, name string) {
	// Found before its environment is read, it stays this process.
	p, err := os.FindProcess(pid)
	if err != nil {
		return // it has ended
	}
	defer p.Release()
	if env, err := k.environment(name); bytes.Contains(env, k.variable) || err == nil && k.inSession(pid, name) {
		_ = p.Kill()
	}
}

// environment returns the environment of a process, until the next call. There may be
// thousands of processes to look at, so it reads them without what package os adds.
func (k *killer) environment(name string) ([]byte, error) {
	fd, err := unix.Open("/proc/"+name+"/environ", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	for err == unix.EINTR {
		fd, err = unix.Open("/proc/"+name+"/environ", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	for k.env = k.env[:0]; ; {
		k.env = slices.Grow(k.env, 4<<10)
		n, err := unix.Read(fd, k.env[len(k.env):cap(k.env)])
		switch {
		case err == unix.EINTR:
		case n <= 0:
			return k.env, err
		default:
			k.env = k.env[:len(k.env)+n]
		}
	}
}

// startOf returns when a process began, in the ticks of the kernel, and 0 if it has ended
// or is one of the kernel's own. exits is its session if it is about to end: then it has no
// environment any more, and still its directory, for as long as its memory takes to be freed.
func startOf(pid string) (began uint64, exits string) {
	stat, _ := os.ReadFile("/proc/" + pid + "/stat")
	// After the name, which may have blanks: the state, flags, and the start.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return 0, ""
	}
	const exiting, kernelThread = 0x00000004, 0x00200000 // see include/linux/sched.h
	flags, _ := strconv.ParseUint(fields[6], 10, 64)
	if flags&kernelThread != 0 {
		return 0, ""
	}
	if flags&exiting != 0 {
		exits = fields[3]
	}
	began, _ = strconv.ParseUint(fields[19], 10, 64)
	return began, exits
}
