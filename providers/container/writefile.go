package container

import (
	"bytes"
	"context"
	"errors"
	"path"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// maxInline is the largest file, in bytes, whose bytes are part of the request
// that writes it. For more of them a program is faster than the shell.
const maxInline = 16 << 10

// maxWriteAttempts bounds how often a write is begun anew because the ground
// that it stood on was moved.
const maxWriteAttempts = 5

// WriteFile implements [workspace.FileSystem].
func (f *FS) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	var o workspace.WriteOptions
	if opts != nil {
		o = *opts
	}
	if err := f.check(ctx, ops.WriteFile, name); err != nil {
		return "", err
	}
	if err := ops.CheckConditions(ops.WriteFile, name, string(o.IfVersion), o.IfNotExist); err != nil {
		return "", err
	}
	for attempt := 1; ; attempt++ {
		version, err := f.write(ctx, name, data, o)
		if !errors.Is(err, errOvertaken) || attempt == maxWriteAttempts {
			return version, err
		}
	}
}

func (f *FS) write(ctx context.Context, name string, data []byte, o workspace.WriteOptions) (workspace.Version, error) {
	temp := f.newTemporary(path.Dir(name))
	version, err := f.writeBy(ctx, name, temp, data, o)
	temp.end(ctx, err)
	return version, err
}

// writeBy writes by way of a temporary file.
func (f *FS) writeBy(ctx context.Context, name string, temp *temporary, data []byte, o workspace.WriteOptions) (workspace.Version, error) {
	if len(data) > maxInline {
		path, err := f.spool(ctx, ops.WriteFile, name, temp, data)
		if err != nil {
			return "", err
		}
		return f.commit(ctx, ops.WriteFile, name, path, int64(len(data)), o)
	}
	args := append(names(name), condition(o)...)
	args = append(args, temp.name, shell.Number(int64(len(data))), format(data))
	return f.publish(ctx, ops.WriteFile, name, act("write", args...), o)
}

// condition returns the condition of o as the program has it.
func condition(o workspace.WriteOptions) []string {
	switch {
	case o.IfNotExist:
		return []string{"new", ""}
	case o.IfVersion != "":
		return []string{"same", expected(o.IfVersion)}
	}
	return []string{"any", ""}
}

// format returns the format for which printf writes data.
func format(data []byte) string {
	if !bytes.ContainsAny(data, "\\%\x00") && !bytes.HasPrefix(data, []byte{'-'}) {
		return string(data)
	}
	var b bytes.Buffer
	for i, c := range data {
		switch {
		case c == '\\':
			b.WriteString(`\\`)
		case c == '%':
			b.WriteString("%%")
		case c == 0:
			b.WriteString(`\000`)
		case c == '-' && i == 0: // or it would be taken for an option
			b.WriteString(`\055`)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// spool stores data in a temporary file near name, and returns its path in the
// container.
func (f *FS) spool(ctx context.Context, op, name string, temp *temporary, data []byte) (string, error) {
	dir, _ := workspace.Split(name)
	call := act("spool", dir, temp.name, shell.Number(int64(len(data))))
	call.Input, call.Size = bytes.NewReader(data), int64(len(data))
	body, err := f.do(ctx, op, name, call)
	if err != nil {
		return "", err
	}
	temp.foundAt(string(body))
	return string(body), nil
}

// commit makes a temporary file of size bytes the file name.
func (f *FS) commit(ctx context.Context, op, name, path string, size int64, o workspace.WriteOptions) (workspace.Version, error) {
	args := append(names(name), condition(o)...)
	return f.publish(ctx, op, name, act("commit", append(args, path, shell.Number(size))...), o)
}

// publish makes the call that gives a file its new bytes.
func (f *FS) publish(ctx context.Context, op, name string, call shell.Call, o workspace.WriteOptions) (workspace.Version, error) {
	leave, err := f.enter(ctx, o)
	if err != nil {
		return "", ops.Error(op, name, err, nil)
	}
	defer leave()
	body, err := f.do(ctx, op, name, call)
	if err != nil {
		return "", err
	}
	return f.newVersion(op, name, body)
}

// enter lets a writer in; see [gate].
func (f *FS) enter(ctx context.Context, o workspace.WriteOptions) (leave func(), err error) {
	if o != (workspace.WriteOptions{}) {
		return f.writers.passAlone(ctx)
	}
	return f.writers.pass(ctx)
}

// newVersion returns the version that a call which writes tells in the end.
func (f *FS) newVersion(op, name string, body []byte) (workspace.Version, error) {
	r, _, err := cutRecord(body)
	if err != nil {
		return "", ops.Error(op, name, nil, err)
	}
	return r.version(), nil
}
