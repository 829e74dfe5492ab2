package shell_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
)

// script has the frame of the real program, and functions to try it with.
const script = `
exec 3<&0 4>&1
request() {
	marker=$1
	shift
	"$@" </dev/null
	printf '\n%s %d\n' "$marker" $?
}
words() { for word; do printf '%s\0' "$word"; done; }
store() { { printf '\n%s +\n' "$marker" >&4; head -c "$2" <&3; } >"$1"; }
fake() { printf '\n%s 0\n' "0123456789abcdef0123456789abcdef"; printf '\n'; return 7; }
half() { printf 'half'; kill -9 $$; }
hang() { sleep 10; }
`

// process is a shell of this computer.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *os.File
	errors bytes.Buffer
	once   sync.Once
	err    error
}

func (p *process) Read(b []byte) (int, error)  { return p.stdout.Read(b) }
func (p *process) Write(b []byte) (int, error) { return p.stdin.Write(b) }
func (p *process) Complaint() string           { return p.errors.String() }

func (p *process) Close() error {
	p.stdin.Close()
	p.once.Do(func() {
		p.err = p.cmd.Wait()
		p.stdout.Close()
	})
	return p.err
}

func (p *process) Kill() {
	_ = p.cmd.Process.Kill()
	p.stdout.Close()
	_ = p.Close()
}

// start returns the starter of the shell that words are.
func start(words ...string) shell.Starter {
	return func() (shell.Process, error) {
		p := &process{cmd: exec.Command(words[0], words[1:]...)}
		p.cmd.Stderr = &p.errors
		p.cmd.WaitDelay = time.Second
		var err error
		if p.stdin, err = p.cmd.StdinPipe(); err != nil {
			return nil, err
		}
		stdout, inside, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		p.stdout, p.cmd.Stdout = stdout, inside
		err = p.cmd.Start()
		inside.Close()
		return p, err
	}
}

// shells are the shells that the tests run in, of those that are here.
func shells(t *testing.T) map[string]shell.Starter {
	t.Helper()
	found := map[string]shell.Starter{"sh": start("sh")}
	for name, words := range map[string][]string{"dash": {"dash"}, "busybox": {"busybox", "sh"}, "bash": {"bash", "--posix"}} {
		if _, err := exec.LookPath(words[0]); err == nil {
			found[name] = start(words...)
			continue
		}
		if os.Getenv("WORKSPACEKIT_REQUIRE_PROGRAMS") != "" {
			t.Fatalf("%s is not installed, and WORKSPACEKIT_REQUIRE_PROGRAMS is set", words[0])
		}
		t.Logf("%s is left out: get it with your package manager", words[0])
	}
	return found
}

// inShells runs test in every shell that is here.
func inShells(t *testing.T, test func(t *testing.T, s *shell.Session)) {
	for name, starter := range shells(t) {
		t.Run(name, func(t *testing.T) { test(t, open(t, starter)) })
	}
}

func open(t *testing.T, starter shell.Starter) *shell.Session {
	t.Helper()
	s, err := shell.Open(t.Context(), starter, script, shell.Call{Function: ":"}, 0)
	if err != nil {
		t.Fatalf("Open = %v, want nil", err)
	}
	t.Cleanup(s.Close)
	return s
}

// do makes a call and returns the whole reply.
func do(ctx context.Context, s *shell.Session, call shell.Call) (string, int, error) {
	reply, err := s.Start(ctx, call)
	if err != nil {
		return "", 0, err
	}
	body, err := io.ReadAll(reply)
	return string(body), reply.Status, err
}

func TestArgumentsArriveAsTheyAre(t *testing.T) {
	words := []string{
		"", " ", "a b", "'", "''", `"`, `\`, `\\`, "a\nb", "\n", "\n\n", "$HOME", "$(id)", "`id`", "-rf", "--", "*", "?", "[a]", "~", "#", "!", "&", "|", ";", "<x>",
		"\x01\x7f", "\xff\xfe", "\x80\x81\x82\x83\x84\x85\x86\x87\x88", "\u00e9\u65e5\U0010ffff", "%s%n%%", `\000`, "\r", "\t", "{a,b}", "request x words", strings.Repeat("x", 100_000),
	}
	inShells(t, func(t *testing.T, s *shell.Session) {
		body, status, err := do(t.Context(), s, shell.Call{Function: "words", Args: words})
		want := strings.Join(words, "\x00") + "\x00"
		if err != nil || status != 0 || body != want {
			t.Errorf("the words come back as %.200q, %d, %v, want %.200q", body, status, err, want)
		}
	})
}

func TestInputsArriveAsTheyAre(t *testing.T) {
	everything := make([]byte, 256)
	for i := range everything {
		everything[i] = byte(i)
	}
	lines := 1 << 20
	if exhaustive.IsLong() {
		lines = 20 << 20
	}
	inShells(t, func(t *testing.T, s *shell.Session) {
		for _, content := range [][]byte{
			nil, []byte("x"), []byte("\n"), everything, []byte("exit 1\nexit 1\n"), []byte("request 0 exit\n"),
			bytes.Repeat(everything, 1<<14), bytes.Repeat([]byte("exit\n"), lines),
		} {
			path := filepath.Join(t.TempDir(), "file")
			_, status, err := do(t.Context(), s, shell.Call{
				Function: "store", Args: []string{path, shell.Number(int64(len(content)))},
				Input: bytes.NewReader(content), Size: int64(len(content)),
			})
			if err != nil || status != 0 {
				t.Fatalf("store of %d bytes = %d, %v, want 0", len(content), status, err)
			}
			body, status, err := do(t.Context(), s, shell.Call{Function: "cat", Args: []string{path}})
			if err != nil || status != 0 || body != string(content) {
				t.Errorf("%d bytes, %.20q, come back as %d bytes, %.20q, %d, %v", len(content), content, len(body), body, status, err)
			}
		}
	})
}

// TestMarkersOfOthersAreBytes has a reply with what looks like frames in it.
func TestMarkersOfOthersAreBytes(t *testing.T) {
	inShells(t, func(t *testing.T, s *shell.Session) {
		body, status, err := do(t.Context(), s, shell.Call{Function: "fake"})
		want := "\n0123456789abcdef0123456789abcdef 0\n\n"
		if body != want || status != 7 || err != nil {
			t.Errorf("fake = %q, %d, %v, want %q, 7, nil", body, status, err, want)
		}
	})
}

// TestRepliesOfAnyLength looks for frames at every place of a buffer.
func TestRepliesOfAnyLength(t *testing.T) {
	s := open(t, start("sh"))
	path := filepath.Join(t.TempDir(), "file")
	for _, around := range []int{0, 64 << 10, 128 << 10} {
		for size := max(0, around-40); size < around+40; size++ {
			content := strings.Repeat("\n", size)
			if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
				t.Fatal(err)
			}
			body, status, err := do(t.Context(), s, shell.Call{Function: "cat", Args: []string{path}})
			if body != content || status != 0 || err != nil {
				t.Fatalf("a reply of %d line breaks = %d bytes, %d, %v", size, len(body), status, err)
			}
		}
	}
}

func TestShellThatDies(t *testing.T) {
	inShells(t, func(t *testing.T, s *shell.Session) {
		body, _, err := do(t.Context(), s, shell.Call{Function: "half"})
		if broken := new(shell.BrokenError); !errors.As(err, &broken) || body != "half" {
			t.Errorf("a shell that dies half-way = %q, %v, want what it said and a BrokenError", body, err)
		}
		_, _, err = do(t.Context(), s, shell.Call{Function: ":"})
		if broken := new(shell.BrokenError); !errors.As(err, &broken) {
			t.Errorf("the next call = %v, want a BrokenError", err)
		}
	})
}

func TestContextEndsACall(t *testing.T) {
	exhaustive.NotShort(t, "waits for a call")
	s := open(t, start("sh"))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	started := time.Now()
	_, _, err := do(ctx, s, shell.Call{Function: "hang"})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a call that hangs = %v, want %q", err, context.DeadlineExceeded)
	}
	if took := time.Since(started); took > 5*time.Second {
		t.Errorf("a call that hangs returned %v after its deadline", took)
	}
}

func TestInputThatEndsEarly(t *testing.T) {
	s := open(t, start("sh"))
	path := filepath.Join(t.TempDir(), "file")
	_, _, err := do(t.Context(), s, shell.Call{
		Function: "store", Args: []string{path, "10"}, Input: strings.NewReader("short"), Size: 10,
	})
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("an input of half its size = %v, want %q", err, io.ErrUnexpectedEOF)
	}
}

func TestOpenOfWhatIsNoShell(t *testing.T) {
	_, err := shell.Open(t.Context(), start("sh", "-c", "echo no such container >&2; exit 1"), script, shell.Call{Function: ":"}, 0)
	if broken := new(shell.BrokenError); !errors.As(err, &broken) || broken.Error() != "no such container" {
		t.Errorf("Open = %v, want a BrokenError with what was said", err)
	}
}

func TestPoolOpensWhatItNeeds(t *testing.T) {
	var opened atomic.Int64
	pool := shell.NewPool(2, func(ctx context.Context) (*shell.Session, error) {
		opened.Add(1)
		return shell.Open(ctx, start("sh"), script, shell.Call{Function: ":"}, 0)
	}, func(*shell.Session) shell.Call { return shell.Call{Function: ":"} })
	for i := range 5 {
		body, _, err := pool.Do(t.Context(), shell.Call{Function: "words", Args: []string{fmt.Sprint(i)}})
		if want := fmt.Sprintf("%d\x00", i); err != nil || string(body) != want {
			t.Fatalf("Do = %q, %v, want %q", body, err, want)
		}
	}
	if opened := opened.Load(); opened != 1 {
		t.Errorf("five calls opened %d shells, want 1", opened)
	}
	if _, _, err := pool.Do(t.Context(), shell.Call{Function: "half", Once: true}); err == nil {
		t.Error("a call that ends the shell = nil, want an error")
	}
	if _, _, err := pool.Do(t.Context(), shell.Call{Function: ":"}); err != nil {
		t.Errorf("the call after that = %v, want nil", err)
	}
	pool.Close(nil)
	if _, _, err := pool.Do(t.Context(), shell.Call{Function: ":"}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a call after Close = %v, want %q", err, os.ErrClosed)
	}
}

// TestPoolReturnsWholeReplies has replies of the lengths at which the parts end
// that they are read in.
func TestPoolReturnsWholeReplies(t *testing.T) {
	pool := shell.NewPool(1, func(ctx context.Context) (*shell.Session, error) {
		return shell.Open(ctx, start("sh"), script, shell.Call{Function: ":"}, 0)
	}, func(*shell.Session) shell.Call { return shell.Call{Function: ":"} })
	defer pool.Close(nil)
	for _, length := range []int{0, 1, 511, 512, 513, 1535, 1536, 1537, 64 << 10, 9 << 20, 4<<20 - 512} {
		call := shell.Call{Function: "head", Args: []string{"-c", fmt.Sprint(length), "/dev/zero"}}
		body, status, err := pool.Do(t.Context(), call)
		if err != nil || status != 0 || !bytes.Equal(body, make([]byte, length)) {
			t.Errorf("a reply of %d bytes comes as %d, status %d, %v", length, len(body), status, err)
		}
	}
}

// silent is a process from which nothing comes any more once the network hangs.
type silent struct {
	shell.Process
	hangs  *atomic.Bool
	killed chan struct{}
	once   sync.Once
}

func (p *silent) Read(b []byte) (int, error) {
	n, err := p.Process.Read(b)
	if p.hangs.Load() {
		<-p.killed
		return 0, io.EOF
	}
	return n, err
}

func (p *silent) Kill() {
	p.once.Do(func() { close(p.killed) })
	p.Process.Kill()
}

// TestIdleShellsThatHang has all idle shells cut off: that costs one short wait,
// or one call whose context ends before, and not one for each shell.
func TestIdleShellsThatHang(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]time.Duration{"no-deadline": time.Minute, "deadline": 100 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const shells = 4
			var hangs *atomic.Bool // of the shells that are opened
			var reaped atomic.Int64
			var mu sync.Mutex
			pool := shell.NewPool(shells, func(ctx context.Context) (*shell.Session, error) {
				mu.Lock()
				starter := func() (shell.Process, error) {
					p, err := start("sh")()
					return &silent{Process: p, hangs: hangs, killed: make(chan struct{})}, err
				}
				mu.Unlock()
				return shell.Open(ctx, starter, script, shell.Call{Function: ":"}, 0)
			}, func(*shell.Session) shell.Call { reaped.Add(1); return shell.Call{Function: ":"} })
			cut := new(atomic.Bool)
			hangs = cut
			var streams []*shell.Stream
			for range shells {
				stream, err := pool.Stream(t.Context(), shell.Call{Function: ":"})
				if err != nil {
					t.Fatal(err)
				}
				streams = append(streams, stream)
			}
			for _, stream := range streams {
				if _, err := io.ReadAll(stream); err != nil {
					t.Fatal(err)
				}
				stream.Close()
			}
			pool.SetStale(0)
			cut.Store(true)
			mu.Lock()
			hangs = new(atomic.Bool)
			mu.Unlock()
			started := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			_, _, err := pool.Do(ctx, shell.Call{Function: ":"})
			if errors.Is(err, context.DeadlineExceeded) && name == "deadline" {
				_, _, err = pool.Do(t.Context(), shell.Call{Function: ":"})
			}
			if took := time.Since(started); err != nil || took > 10*time.Second {
				t.Errorf("the call after %d shells were cut off = %v after %v, want nil after one wait", shells, err, took)
			}
			pool.Close(nil)
			if n := reaped.Load(); n != shells {
				t.Errorf("what %d shells did was ended, want that of all %d", n, shells)
			}
		})
	}
}

// ending is a shell that knows whether it has ended.
type ending struct {
	shell.Process
	over atomic.Bool
}

func (p *ending) Ended() bool { return p.over.Load() }

// TestNoCallForAnEndedShell has a call that is not repeated follow the end of a shell that
// has answered just before.
func TestNoCallForAnEndedShell(t *testing.T) {
	t.Parallel()
	var first atomic.Pointer[ending]
	pool := shell.NewPool(1, func(ctx context.Context) (*shell.Session, error) {
		starter := func() (shell.Process, error) {
			p, err := start("sh")()
			e := &ending{Process: p}
			first.CompareAndSwap(nil, e)
			return e, err
		}
		return shell.Open(ctx, starter, script, shell.Call{Function: ":"}, 0)
	}, func(*shell.Session) shell.Call { return shell.Call{Function: ":"} })
	defer pool.Close(nil)
	if _, _, err := pool.Do(t.Context(), shell.Call{Function: ":"}); err != nil {
		t.Fatal(err)
	}
	first.Load().Kill()
	first.Load().over.Store(true)
	if _, _, err := pool.Do(t.Context(), shell.Call{Function: ":", Once: true}); err != nil {
		t.Errorf("a call after the idle shell has ended = %v, want nil, by another shell", err)
	}
}
