// Package jobs keeps commands that run beside their caller. In goes a
// [workspace.Runner]; out come processes that can be listed, read and killed:
//
//	all := jobs.New(ws, nil)
//	defer all.Close()
//	id, err := all.Start(ctx, &workspace.RunOptions{Command: []string{"make", "serve"}})
//	out, err := all.Output(id, 0)       // what it has written so far
//	out, err = all.Output(id, out.Next) // what it has written since
//	err = all.Kill(ctx, id)
//
// What a command writes is kept in memory, the last [Options].Output bytes of it. Close
// kills the commands, and so does closing the workspace, except for the programs
// that [workspace.Runner] cannot kill.
package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// The bounds of Jobs whose options set none.
const (
	DefaultOutput  = 1 << 20 // bytes of output that are kept of each command
	DefaultRunning = 8       // commands that run at a time
	DefaultEnded   = 16      // ended commands that are kept
)

// Options bound what [Jobs] keep. A negative number means what zero means.
type Options struct {
	// Output is how many bytes of what each command writes are kept, the last ones. Zero
	// means [DefaultOutput].
	Output int
	// Running is how many commands run at a time. Zero means [DefaultRunning].
	Running int
	// Ended is how many commands are kept that have ended, the last ones. Zero means
	// [DefaultEnded].
	Ended int
}

// ErrTooMany is the error of a command that is not started as too many run. It is
// [workspace.ErrUnavailable], as it can be started when one of them has ended.
var ErrTooMany = fmt.Errorf("%w: too many commands run", workspace.ErrUnavailable)

// Jobs are the commands of a workspace. They are safe for concurrent use.
type Jobs struct {
	runner workspace.Runner
	opts   Options

	mu     sync.Mutex
	closed bool            // guarded by mu
	count  int             // guarded by mu: the last id
	all    map[string]*job // guarded by mu
	begun  sync.WaitGroup  // of goroutines
}

// Job is a command, as it is when it is asked for.
type Job struct {
	// ID names it: a number.
	ID string `json:"id"`
	// Command and Dir are what is run, and where.
	Command []string `json:"command"`
	Dir     string   `json:"dir,omitempty"`
	// Started is when that was.
	Started time.Time `json:"started"`
	// Running says that it has not ended.
	Running bool `json:"running"`
	// Result says how it ended. It is nil while it runs, and if it was not started or
	// was killed: then Err says why.
	Result *workspace.RunResult `json:"result,omitempty"`
	Err    error                `json:"-"`
	// Written is how many bytes it has written.
	Written int64 `json:"written"`
}

// Output is a part of what a command has written.
type Output struct {
	Job
	// Data begins at the byte Offset of all that was written to both outputs, in order.
	// It begins later than what was asked for if that is no longer kept.
	Data   []byte
	Offset int64
	// Next is the offset of what comes after Data.
	Next int64
}

// New returns no jobs yet, whose commands runner runs. Nil opts mean the zero Options.
func New(runner workspace.Runner, opts *Options) *Jobs {
	var o Options
	if opts != nil {
		o = *opts
	}
	o.Output, o.Running, o.Ended = cmp.Or(max(o.Output, 0), DefaultOutput), cmp.Or(max(o.Running, 0), DefaultRunning), cmp.Or(max(o.Ended, 0), DefaultEnded)
	return &Jobs{runner: runner, opts: o, all: map[string]*job{}}
}

// job is a command. It is the writer of both its outputs.
type job struct {
	cancel context.CancelFunc
	began  chan struct{} // closed when its input is first read: it has been started
	ended  chan struct{} // closed when it has ended

	mu    sync.Mutex
	state Job       // guarded by mu
	over  time.Time // guarded by mu: when it ended
	kept  []byte    // guarded by mu: the end of the output
	most  int       // of kept
	also  io.Writer
}

// Write implements [io.Writer].
func (j *job) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.state.Written += int64(len(p))
	j.kept = append(j.kept, p[max(0, len(p)-j.most):]...)
	if len(j.kept) > 2*j.most { // not with each write
		j.kept = append(j.kept[:0], j.kept[len(j.kept)-j.most:]...)
	}
	return j.also.Write(p)
}

// beginning is the empty input of a command, whose first Read says that it was started.
type beginning struct {
	once sync.Once
	job  *job
}

// Read implements [io.Reader].
func (b *beginning) Read([]byte) (int, error) {
	b.once.Do(func() { close(b.job.began) })
	return 0, io.EOF
}

// Len says that there is no input.
func (b *beginning) Len() int { return 0 }

// Start starts a command and returns its id once it runs, which the Runner shows by reading
// its input, or has ended. The command outlives ctx, but not the time before it runs: an
// approval may be waited for there. It has no input, and what it writes goes to opts.Stdout,
// too, from both outputs in order; opts.Stdin and opts.Stderr are not used.
//
// # Errors
//
// Those of [workspace.Runner] that are known before the command begins, such as for Dir (a
// program that does not exist can be the Err of the [Job] instead), [ErrTooMany],
// [fs.ErrClosed], and the error of ctx.
func (s *Jobs) Start(ctx context.Context, opts *workspace.RunOptions) (id string, err error) {
	var o workspace.RunOptions
	if opts != nil {
		o = *opts
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	j := &job{cancel: cancel, began: make(chan struct{}), ended: make(chan struct{}), most: s.opts.Output, also: o.Stdout}
	if j.also == nil {
		j.also = io.Discard
	}
	if err := s.add(j, o); err != nil {
		cancel()
		return "", err
	}
	go func() {
		defer s.begun.Done()
		defer close(j.ended)
		defer cancel()
		o.Stdin, o.Stdout, o.Stderr = &beginning{job: j}, j, j
		result, err := s.runner.Run(running, &o)
		j.mu.Lock()
		defer j.mu.Unlock()
		j.state.Running, j.state.Result, j.state.Err, j.over = false, result, err, time.Now()
	}()
	select {
	case <-j.began:
		return j.state.ID, nil
	case <-j.ended:
		if j.state.Err != nil && !j.hasBegun() {
			s.forget(j)
			return "", j.state.Err
		}
		return j.state.ID, nil
	case <-ctx.Done():
		cancel()
		<-j.ended
		s.forget(j)
		return "", ops.Error(ops.Run, cmp.Or(o.Dir, "."), ctx.Err(), nil)
	}
}

// hasBegun reports whether the command has read its input: one that fails after that may have
// done some of its work, and is not said to have failed before it began.
func (j *job) hasBegun() bool {
	select {
	case <-j.began:
		return true
	default:
		return false
	}
}

// add gives a job its id.
func (s *Jobs) add(j *job, o workspace.RunOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ops.Error(ops.Run, cmp.Or(o.Dir, "."), fs.ErrClosed, nil)
	}
	if running := s.prune(); running >= s.opts.Running {
		return ops.Error(ops.Run, cmp.Or(o.Dir, "."), ErrTooMany, fmt.Errorf("kill one of %d", running))
	}
	s.count++
	j.state = Job{ID: strconv.Itoa(s.count), Command: slices.Clone(o.Command), Dir: o.Dir, Started: time.Now(), Running: true}
	s.all[j.state.ID] = j
	s.begun.Add(1)
	return nil
}

// prune removes the jobs that ended before the last ones, and returns how many run. The caller
// holds mu.
func (s *Jobs) prune() (running int) {
	ended := map[string]time.Time{}
	for id, j := range s.all {
		j.mu.Lock()
		if j.state.Running {
			running++
		} else {
			ended[id] = j.over
		}
		j.mu.Unlock()
	}
	ids := slices.SortedFunc(maps.Keys(ended), func(a, b string) int { return ended[a].Compare(ended[b]) })
	for _, id := range ids[:max(0, len(ids)-s.opts.Ended)] {
		delete(s.all, id)
	}
	return running
}

// forget removes a job that was not started.
func (s *Jobs) forget(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, j.snapshot().ID)
}

// snapshot returns what is known of a job.
func (j *job) snapshot() Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.state
}

// List returns the commands that run or are kept, in the order in which they were started.
func (s *Jobs) List() []Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prune()
	list := make([]Job, 0, len(s.all))
	for _, j := range s.all {
		list = append(list, j.snapshot())
	}
	slices.SortFunc(list, func(a, b Job) int { return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID)) })
	return list
}

// find returns the job id.
func (s *Jobs) find(id string) (*job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.all[id]; j != nil {
		return j, nil
	}
	return nil, ops.Error(ops.Run, id, fs.ErrNotExist, errors.New("no command has this id, or it ended long ago"))
}

// Output returns what the command id has written from offset on, to both outputs, without
// what is no longer kept.
//
// # Errors
//
// [fs.ErrNotExist] for an id that is not known, and [fs.ErrInvalid] for a negative offset.
func (s *Jobs) Output(id string, offset int64) (*Output, error) {
	j, err := s.find(id)
	if err != nil {
		return nil, err
	}
	if offset < 0 {
		return nil, ops.Error(ops.Run, id, fs.ErrInvalid, errors.New("the offset is negative"))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	kept := j.kept[max(0, len(j.kept)-j.most):]
	first := j.state.Written - int64(len(kept))
	offset = min(max(offset, first), j.state.Written)
	return &Output{Job: j.state, Data: slices.Clone(kept[offset-first:]), Offset: offset, Next: j.state.Written}, nil
}

// Wait waits for the end of the command id.
//
// # Errors
//
// [fs.ErrNotExist], and the error of ctx.
func (s *Jobs) Wait(ctx context.Context, id string) error {
	j, err := s.find(id)
	if err != nil {
		return err
	}
	select {
	case <-j.ended:
		return nil
	case <-ctx.Done():
		return ops.Error(ops.Run, id, ctx.Err(), nil)
	}
}

// Kill kills the command id, with everything that it has started, and waits for that. It
// does nothing to a command that has ended.
//
// # Errors
//
// [fs.ErrNotExist], and the error of ctx, after which it is killed all the same.
func (s *Jobs) Kill(ctx context.Context, id string) error {
	j, err := s.find(id)
	if err != nil {
		return err
	}
	j.cancel()
	return s.Wait(ctx, id)
}

// Close kills all commands and waits for that. Nothing can be started then.
func (s *Jobs) Close() {
	s.mu.Lock()
	s.closed = true
	for _, j := range s.all {
		j.cancel()
	}
	s.mu.Unlock()
	s.begun.Wait()
}
