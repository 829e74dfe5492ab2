package conformance

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"time"

	"github.com/workspacekit/workspacekit/conformance/internal/compare"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// openCases are the cases for streams that read. A tool reads a few lines of a
// log of gigabytes by a window, so the window must be exact.
var openCases = []testCase{
	{"whole", "OP1", needFiles, openWhole},
	{"window", "OP1", needFiles, openWindow},
	{"past-the-end", "OP3", needFiles, openPastEnd},
	{"window-of-a-large-file", "OP1", needFiles, openLargeWindow},
	{"describes", "OP2", needFiles, openDescribes},
	{"version-of-the-bytes", "OP2", needWrite | needVersions, openWhileWritten},
	{"negative", "OP4 O2 C1 E1 E2", needFiles, openNegative},
	{"directory", "OP1 R2 E1 E2", needFiles, openDirectory},
	{"canceled-stream", "OP5 C2", needFiles | needOpener, openCanceledStream},
	{"several-streams", "OP1", needFiles, openSeveral},
}

// open reads a whole stream and returns it with the description of the file.
func (e *env) open(name string, opts *workspace.OpenOptions) (string, workspace.FileInfo) {
	e.Helper()
	stream, info, err := workspace.Open(e.ctx, e.fsys, name, opts)
	if err != nil {
		e.Fatalf("Open(%q, %+v) = %v, want nil", name, opts, err)
	}
	data, err := io.ReadAll(stream)
	if err != nil {
		e.Fatalf("Open(%q, %+v), read to the end = %v, want nil", name, opts, err)
	}
	if err := stream.Close(); err != nil {
		e.Errorf("Open(%q, %+v), closed = %v, want nil", name, opts, err)
	}
	return string(data), info
}

// streams fails the case unless the stream of a window is want.
func (e *env) streams(name string, opts workspace.OpenOptions, want string) {
	e.Helper()
	if got, _ := e.open(name, &opts); got != want {
		e.Errorf("Open(%q, %+v) streams %s, want %s", name, opts, compare.Brief(got), compare.Brief(want))
	}
}

// openWhole tests that a stream without options has the whole file.
func openWhole(e *env) {
	e.given(files{"file": "content", "empty": "", "bytes": everyByte()})
	for name, want := range map[string]string{"file": "content", "empty": "", "bytes": everyByte()} {
		if got, _ := e.open(name, nil); got != want {
			e.Errorf("Open(%q, nil) streams %s, want %s", name, compare.Brief(got), compare.Brief(want))
		}
		e.streams(name, workspace.OpenOptions{}, want)
	}
}

// openWindow tests every combination of offset and length around the ends of a
// file. A range of HTTP names its last byte, and not the one after it, so one
// is easily off by one, or beyond the greatest number.
func openWindow(e *env) {
	const content = "0123456789"
	e.given(files{"file": content})
	for offset := range len(content) {
		for length := 1; length <= len(content)+1; length++ {
			opts := workspace.OpenOptions{Offset: int64(offset), Length: int64(length)}
			e.streams("file", opts, content[offset:min(offset+length, len(content))])
		}
		for _, length := range []int64{0, math.MaxInt64} {
			e.streams("file", workspace.OpenOptions{Offset: int64(offset), Length: length}, content[offset:])
		}
	}
}

// openPastEnd tests that a window after the end is empty. A store answers such
// a range with an error (416 in HTTP), where a reader that follows a growing
// file expects nothing yet.
func openPastEnd(e *env) {
	e.given(files{"file": "12345", "empty": ""})
	for _, offset := range []int64{5, 6, 1 << 40, math.MaxInt64} {
		e.streams("file", workspace.OpenOptions{Offset: offset}, "")
		e.streams("file", workspace.OpenOptions{Offset: offset, Length: 3}, "")
		e.streams("empty", workspace.OpenOptions{Offset: offset}, "")
	}
	e.streams("empty", workspace.OpenOptions{Length: 3}, "")
}

// openLargeWindow tests windows of a file that is larger than usual buffers.
// The lengths are full buffers, and one byte more.
func openLargeWindow(e *env) {
	content := large()
	e.given(files{"large": content})
	for _, offset := range []int64{0, 1, 4095, 1 << 20, 5<<20 - 10} {
		for _, length := range []int64{1, 4096, 64 << 10, 1<<20 + 1} {
			end := min(offset+length, int64(len(content)))
			e.streams("large", workspace.OpenOptions{Offset: offset, Length: length}, content[offset:end])
		}
	}
}

// openDescribes tests that Open describes the whole file, whatever the window.
// A size of the window would make a caller believe that it has read all.
// ModTime may be missing, but must not be another.
func openDescribes(e *env) {
	e.given(files{"dir/file": "0123456789"})
	want := e.stat("dir/file")
	for _, opts := range []workspace.OpenOptions{{}, {Offset: 4, Length: 2}, {Offset: 99}} {
		_, got := e.open("dir/file", &opts)
		if got.ModTime.IsZero() {
			want.ModTime = time.Time{}
		}
		if got != want {
			e.Errorf("Open(%q, %+v) = %+v, want %+v as Stat", "dir/file", opts, got, want)
		}
	}
}

// openWhileWritten tests that the version in the description belongs to the bytes, which are
// all read. The mistake is a Stat and then an open of the name.
func openWhileWritten(e *env) {
	e.readWhileWritten("Open", func() (string, workspace.Version, error) {
		stream, info, err := workspace.Open(e.ctx, e.fsys, "file", nil)
		if err != nil {
			return "", "", err
		}
		defer stream.Close()
		data, err := io.ReadAll(stream)
		return string(data), info.Version, err
	})
}

// openNegative tests that negative numbers are refused, and that an ended
// context comes first. In some libraries a negative offset counts from the end,
// and a negative length is no limit.
func openNegative(e *env) {
	e.given(files{"file": "x"})
	for _, opts := range []workspace.OpenOptions{{Offset: -1}, {Length: -1}, {Offset: -1, Length: -1}} {
		_, _, err := workspace.Open(e.ctx, e.fsys, "file", &opts)
		e.refused(err, fs.ErrInvalid, at(ops.Open, "file"), "Open(%q, %+v)", "file", opts)
		ended, cancel := context.WithCancel(e.ctx)
		cancel()
		_, _, err = workspace.Open(ended, e.fsys, "file", &opts)
		e.refused(err, context.Canceled, at(ops.Open, "file"), "Open(%q, %+v) with an ended context", "file", opts)
	}
}

// openDirectory tests that a directory has no stream. The system opens a
// directory without an error and fails at the first read, so Open must look.
func openDirectory(e *env) {
	e.given(files{"dir/file": "x"})
	for _, name := range []string{"dir", "."} {
		_, _, err := workspace.Open(e.ctx, e.fsys, name, nil)
		e.refused(err, workspace.ErrIsDir, at(ops.Open, name), "Open(%q)", name)
	}
}

// openCanceledStream allows for bytes that are buffered already. A download of
// an agent that has been stopped costs traffic until it ends.
func openCanceledStream(e *env) {
	e.given(files{"large": large()})
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	stream, _, err := workspace.Open(ctx, e.fsys, "large", nil)
	if err != nil {
		e.Fatalf("Open(%q) = %v, want nil", "large", err)
	}
	defer stream.Close()
	if _, err := io.ReadFull(stream, make([]byte, 10)); err != nil {
		e.Fatalf("Open(%q), reading = %v, want nil", "large", err)
	}
	cancel()
	if _, err := io.Copy(io.Discard, stream); !errors.Is(err, context.Canceled) {
		e.Errorf("Open(%q), reading after its context was canceled = %v, want %q", "large", err, context.Canceled)
	}
}

// openSeveral tests that several streams of one file are independent. They are
// read when all are open, so a position or a buffer that they share shows.
func openSeveral(e *env) {
	e.given(files{"file": "0123456789"})
	var streams []io.ReadCloser
	for offset := range 5 {
		stream, _, err := workspace.Open(e.ctx, e.fsys, "file", &workspace.OpenOptions{Offset: int64(offset)})
		if err != nil {
			e.Fatalf("Open(%q) = %v, want nil", "file", err)
		}
		defer stream.Close()
		streams = append(streams, stream)
	}
	for offset, stream := range streams {
		data, err := io.ReadAll(stream)
		if want := "0123456789"[offset:]; err != nil || string(data) != want {
			e.Errorf("Open(%q, Offset: %d), one of several, streams %q, %v, want %q", "file", offset, data, err, want)
		}
	}
}
