package conformance_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

func runMutants() []mutant {
	return []mutant{
		{"runs-undeclared", declares(func(c *workspace.Capabilities) { c.Run = false }), []string{"Run/undeclared"}},
		{"runs-by-shell", before(func(o *workspace.RunOptions) {
			o.Command = []string{"sh", "-c", strings.Join(o.Command, " ")}
		}), []string{"Run/arguments"}},
		{"fails-with-one", after(func(r *workspace.RunResult) { r.ExitCode = min(r.ExitCode, 1) }), []string{"Run/exit-codes"}},
		{"signals-are-codes", after(func(r *workspace.RunResult) {
			if r.Signal != "" {
				r.ExitCode, r.Signal = 137, ""
			}
		}), []string{"Run/signals"}},
		{"streams-in-one", before(func(o *workspace.RunOptions) { o.Stderr = o.Stdout }), []string{"Run/streams-apart"}},
		{"output-at-the-end", collects, []string{"Run/streams-at-once"}},
		{"two-writes-at-a-time", before(func(o *workspace.RunOptions) {
			if o.Stdout != nil && o.Stdout == o.Stderr {
				o.Stdout, o.Stderr = slowWriter{o.Stdout}, &slowWriter{o.Stderr}
			}
		}), []string{"Run/one-writer"}},
		{"drops-what-it-cannot-compare", before(func(o *workspace.RunOptions) {
			if o.Stdout != nil && !reflect.ValueOf(o.Stdout).Comparable() {
				o.Stdout = nil
			}
		}), []string{"Run/uncomparable-writer"}},
		{"loses-output", before(func(o *workspace.RunOptions) { o.Stdout = &limited{o.Stdout, 1 << 20} }), []string{"Run/much-output"}},
		{"input-as-lines", before(func(o *workspace.RunOptions) {
			if o.Stdin != nil {
				o.Stdin = io.MultiReader(o.Stdin, strings.NewReader("\n"))
			}
		}), []string{"Run/input"}},
		{"invents-input", before(func(o *workspace.RunOptions) {
			if o.Stdin == nil {
				o.Stdin = strings.NewReader("x")
			}
		}), []string{"Run/no-input"}},
		{"waits-for-input", func(h *hooked) { h.defects.waitsForInput = true }, []string{"Run/endless-input"}},
		{"input-must-be-read", readsAll, []string{"Run/unread-input"}},
		{"runs-in-the-root", before(func(o *workspace.RunOptions) { o.Dir = "" }), []string{"Run/directory"}},
		{"runs-elsewhere", runsElsewhere, []string{"Run/directory-refused"}},
		{"exact-runs-in-symlink", mutateExact(func(view *hooked, plain *reference) { view.runs = plain.Run }), []string{"Run/directory-symlink"}},
		{"runs-in-a-copy", func(h *hooked) { h.defects.loses = true }, []string{"Run/files"}},
		{"environment-leaks", func(h *hooked) { h.defects.leaks = []string{"X=conformance-secret-of-the-process"} }, []string{"Run/environment"}},
		{"environment-is-fixed", before(func(o *workspace.RunOptions) { o.Env = nil }), []string{"Run/environment"}},
		{"not-started-is-a-code", notStartedIsCode, []string{"Run/not-started"}},
		{"cuts-arguments", before(func(o *workspace.RunOptions) {
			o.Command = slices.Clone(o.Command)
			for i, argument := range o.Command {
				o.Command[i] = argument[:min(len(argument), 100_000)]
			}
		}), []string{"Run/too-long"}},
		{"runs-when-canceled", func(h *hooked) {
			h.runs = func(ctx context.Context, opts *workspace.RunOptions) (*workspace.RunResult, error) {
				_, err := h.reference.Run(context.WithoutCancel(ctx), opts)
				return nil, errors.Join(err, ops.Error(ops.Run, ".", ctx.Err(), nil))
			}
		}, []string{"Run/canceled-before"}},
		{"kills-the-command-alone", func(h *hooked) { h.defects.leavesCanceled = true }, []string{"Run/canceled"}},
		{"leaves-the-background", func(h *hooked) { h.defects.leaves = true }, []string{"Run/background", "Run/failing-writer", "Run/failing-reader"}},
		{"ignores-writers", before(func(o *workspace.RunOptions) {
			o.Stdout, o.Stderr = &limited{o.Stdout, 0}, &limited{o.Stderr, 0}
		}), []string{"Run/failing-writer"}},
		{"ignores-readers", before(func(o *workspace.RunOptions) {
			if o.Stdin != nil {
				o.Stdin = strings.NewReader("")
			}
		}), []string{"Run/failing-reader"}},
		{"kills-others", func(h *hooked) { h.defects.oneMark = true }, []string{"Run/concurrent"}},
	}
}

// before is a mutant that changes what is run.
func before(change func(o *workspace.RunOptions)) func(*hooked) {
	return func(h *hooked) {
		h.runs = func(ctx context.Context, opts *workspace.RunOptions) (*workspace.RunResult, error) {
			changed := *opts
			if len(opts.Command) > 0 {
				change(&changed)
			}
			return h.reference.Run(ctx, &changed)
		}
	}
}

// after is a mutant that changes the result.
func after(change func(r *workspace.RunResult)) func(*hooked) {
	return func(h *hooked) {
		h.runs = func(ctx context.Context, opts *workspace.RunOptions) (*workspace.RunResult, error) {
			result, err := h.reference.Run(ctx, opts)
			if result != nil {
				change(result)
			}
			return result, err
		}
	}
}

// collects passes the output on when the command has ended.
func collects(h *hooked) {
	h.runs = func(ctx context.Context, opts *workspace.RunOptions) (*workspace.RunResult, error) {
		changed := *opts
		var out bytes.Buffer
		changed.Stdout = &out
		result, err := h.reference.Run(ctx, &changed)
		if err == nil && opts.Stdout != nil {
			_, err = opts.Stdout.Write(out.Bytes())
		}
		return result, err
	}
}

// slowWriter takes its time.
type slowWriter struct{ io.Writer }

func (w slowWriter) Write(p []byte) (int, error) {
	for range p {
		if _, err := w.Writer.Write(p[:1]); err != nil {
			return 0, err
		}
		time.Sleep(time.Millisecond)
		p = p[1:]
	}
	return len(p), nil
}

// limited loses what is more than some bytes, and every error.
type limited struct {
	to   io.Writer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(l.left, len(p))
	if l.to != nil && n > 0 {
		_, _ = l.to.Write(p[:n])
	}
	l.left -= n
	return len(p), nil
}

// readsAll fails if the command has not read its input.
func readsAll(h *hooked) {
	h.runs = func(ctx context.Context, opts *workspace.RunOptions) (*workspace.RunResult, error) {
		changed := *opts
		rest := &bytes.Buffer{}
		if opts.Stdin != nil {
			_, _ = io.Copy(rest, io.LimitReader(opts.Stdin, 1<<20))
			changed.Stdin = rest
		}
		result, err := h.reference.Run(ctx, &changed)
		if err == nil && rest.Len() > 0 {
			return nil, ops.Error(ops.Run, ".", os.ErrClosed, nil)
		}
		return result, err
	}
}

// runsElsewhere runs in the root what cannot be run where it should.
func runsElsewhere(h *hooked) {
	h.runs = func(ctx context.Context, opts *workspace.RunOptions) (*workspace.RunResult, error) {
		result, err := h.reference.Run(ctx, opts)
		if errors.Is(err, fs.ErrNotExist) {
			changed := *opts
			changed.Dir = ""
			return h.reference.Run(ctx, &changed)
		}
		return result, err
	}
}

// notStartedIsCode reports as a shell does that there is no program.
func notStartedIsCode(h *hooked) {
	h.runs = func(ctx context.Context, opts *workspace.RunOptions) (*workspace.RunResult, error) {
		result, err := h.reference.Run(ctx, opts)
		if errors.Is(err, fs.ErrNotExist) {
			return &workspace.RunResult{ExitCode: 127}, nil
		}
		return result, err
	}
}
