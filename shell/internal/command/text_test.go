package command

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
)

// endless is an input without an end, which stops nobody.
type endless string

func (e endless) Read(b []byte) (int, error) {
	n := 0
	for n < len(b) {
		n += copy(b[n:], e)
	}
	return n, nil
}

// TestEndless gives every program an input without an end and an output that nobody
// reads for long. Each ends, with or without a message, and holds little memory.
func TestEndless(t *testing.T) {
	exhaustive.Long(t)
	t.Parallel()
	lines := []string{"cat", "cat -n", "head -n 3", "head -c 3", "head -n -3", "head -n -999999999", "head -c -999999999", "tail", "tail -n 999999999", "tail -c 999999999", "wc",
		"wc -l", "nl", "tac", "rev", "cut -c 1", "paste -s", "paste", "join - missing", "comm - missing", "sort", "sort -c", "sort -u", "uniq -c", "uniq -D", "tr a b",
		"tr -d y", "fold", "expand", "unexpand -a", "column -t", "column", "tee", "split -n 3", "base64", "base64 -d", "base32", "md5sum", "cksum", "od", "od -v", "hexdump -C", "xxd", "xxd -p",
		"xxd -s -1", "xxd -r", "strings", "xargs true", "xargs -n 1", "xargs -I {} echo {}", "yes", "seq 1 99999999999999", "seq 1e30 inf", "seq 0 .001 9999999999", "printf %99999999d", "printf %.99999999f 1e4000", "sleep 99999",
		"jq .", "jq -s .", "jq -n '[repeat(1)]'"}
	inputs := exhaustive.Some(t, "three of four inputs", []string{"y\n", "y", "\x00", "1 2\n2 \"\n"}, []string{"y\n"})
	for _, input := range inputs {
		for _, line := range lines {
			words := shellWords(t, line)
			if Programs[words[0]] == nil {
				continue
			}
			t.Run(line, func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				defer cancel()
				p, _, _ := newTestProcess(t, nil, words...)
				p.Stdin, p.MaxMemory = endless(input), 1<<20
				p.Stdout = &readerThatLeaves{room: 1 << 20}
				started := time.Now()
				Programs[words[0]](ctx, p)
				if took := time.Since(started); took > 20*time.Second {
					t.Errorf("%s took %v", line, took)
				}
			})
		}
	}
}

// readerThatLeaves is an output whose reader leaves when it has enough.
type readerThatLeaves struct{ room int }

// Write implements [io.Writer].
func (r *readerThatLeaves) Write(b []byte) (int, error) {
	if r.room -= len(b); r.room < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(b), nil
}

func TestQuietWhenReaderLeaves(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"yes", "cat", "cat -n", "tr a b", "seq 1000000", "seq 1 .1 100000", "cut -c 1", "cut -f 1", "nl", "od -v", "hexdump -vC", "xxd", "base64",
		"xargs -n 1", "rev", "fold", "fold -s", "expand", "unexpand", "head -n -3", "head -c -3", "tail -n +2", "paste", "paste -s", "uniq -D", "strings -n 1", "tee",
		"comm - empty", "join -a 1 - empty", "base64 -d", "xxd -p", "xxd -i", "env xargs -n 1"} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		p, _, stderr := newTestProcess(t, map[string]string{"empty": ""}, strings.Fields(line)...)
		p.Stdin, p.Stdout = endless("yyy\n"), &readerThatLeaves{}
		if strings.HasPrefix(line, "join") || strings.HasPrefix(line, "uniq") || line == "paste -s" {
			p.Stdin = io.MultiReader(strings.NewReader(strings.Repeat("y\n", 50_000)), endless("z\n")) // what can be held
		}
		status := Programs[p.Args[0]](ctx, p)
		if ctx.Err() != nil || status == 0 || stderr.Len() > 0 {
			t.Errorf("%s, whose reader has left, returns %d and prints %q, ctx %v, want another status, nothing, and no timeout", line, status, stderr, ctx.Err())
		}
	}
}

func TestMemoryBound(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"grep -f - x", "rg -f - x", "sort", "tac", "tail -n 9999999", "head -n -9999999", "column -t", "xxd -s -5"} {
		p, stdout, stderr := newTestProcess(t, nil, strings.Fields(line)...)
		p.Stdin, p.MaxMemory = endless("some words\n"), 1<<20
		status := Programs[p.Args[0]](t.Context(), p)
		if status == 0 || stdout.Len() > 0 || !strings.Contains(stderr.String(), "too large for the memory of a program, 1 MiB") {
			t.Errorf("%s of an endless input returns %d, and prints %d bytes and %q", line, status, stdout.Len(), stderr)
		}
	}
}

func TestSleep(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]time.Duration{
		"sleep 1.5 0.5m": 31500 * time.Millisecond, "sleep 2d": 48 * time.Hour, "sleep 1e9m": 365 * 24 * time.Hour, "sleep infinityd": 365 * 24 * time.Hour, "sleep 1e300d 1e300d": 365 * 24 * time.Hour,
	} {
		synctest.Test(t, func(t *testing.T) {
			p, _, _ := newTestProcess(t, nil, strings.Fields(line)...)
			started := time.Now()
			if status := sleep(t.Context(), p); status != 0 || time.Since(started) != want {
				t.Errorf("%s returns %d after %v, want 0 after %v", line, status, time.Since(started), want)
			}
		})
	}
}

func TestWidthBound(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"stat -c %099999999s f", "stat -c %099999999999999999999s f", "stat -c %99999999999999999999n f", "stat -c %-99999999999999999999n f", "date +%99999999999999999999Y", "find f -printf %99999999999999999999p\\n"} {
		p, stdout, stderr := newTestProcess(t, map[string]string{"f": "x"}, strings.Fields(line)...)
		if status := Programs[p.Args[0]](t.Context(), p); status != 0 || stdout.Len() != maxField+1 {
			t.Errorf("%s returns %d and prints %d bytes, %q, want %d", line, status, stdout.Len(), stderr, maxField+1)
		}
	}
}

func TestSleepEndsWithContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("enough"))
		defer cancel()
		p, _, _ := newTestProcess(t, nil, "sleep", "1h")
		started := time.Now()
		if status := sleep(ctx, p); status == 0 || time.Since(started) != time.Minute {
			t.Errorf("sleep 1h returns %d after %v, want another status after a minute", status, time.Since(started))
		}
	})
}

func TestRefused(t *testing.T) {
	t.Parallel()
	cases := []struct{ line, want string }{
		{"tail -f x", "tail: -f is not supported: it would wait for ever; run tail again to see what was added"},
		{"sort -R", "sort: -R is not supported: results must not differ from run to run"},
		{"split --filter=x", "split: --filter is not supported: write files, and use a loop"},
		{"xargs -p", "xargs: -p is not supported: there is nobody to ask"},
		{"date -s now", "date: cannot set date: Operation not permitted"},
		{"nl -b p^x", "nl: the style 'p^x' is not supported; number matches with grep -n"},
		{"od -S 3", "od: -S is not supported: use strings"},
		{"hexdump -e x", "hexdump: formats are not supported: use od -t or xxd"},
		{"column -J", "column: -J is not supported: use jq"},
		{"env -S x", "env: -S is not supported: write the words as arguments"},
		{"tac -r", "tac: -r is not supported: separators are plain text"},
		{"printf %a 1", "printf: `%a' is not supported"},
		{"join / -", "join: /: Is a directory"},
		{"join - /", "join: /: Is a directory"},
		{"comm / -", "comm: /: Is a directory"},
		{"sort -n --sort=month", "sort: options '-Mn' are incompatible"},
		{"mkdir /", "mkdir: cannot create directory '/': File exists"},
		{"rmdir x", "rmdir: failed to remove 'x': No such file or directory"},
		{"find x", "find: 'x': No such file or directory"},
		{"find x -printf %p%%Q%-3Q", "find: -printf %-3Q is not supported"},
		{"find . -printf %c", "find: -printf %c is not supported"},
		{"find . -printf %p%", "find: -printf % is not supported"},
		{"find . -printf %5", "find: -printf %5 is not supported"},
		{"find . -newermt x", "find: I cannot figure out how to interpret 'x' as a date or time"},
	}
	for _, c := range cases {
		p, _, stderr := newTestProcess(t, nil, strings.Fields(c.line)...)
		status := Programs[p.Args[0]](t.Context(), p)
		if got := strings.TrimSuffix(stderr.String(), "\n"); status == 0 || got != c.want {
			t.Errorf("%s returns %d and prints %q, want %q", c.line, status, got, c.want)
		}
	}
}

func TestTimeZones(t *testing.T) {
	t.Parallel()
	for zone, want := range map[string]string{"": "0 UTC", "EST5": "19 EST", "<+03>-3": "3 +03", "IST-5:30": "5 IST", "Europe/Berlin": "date: TZ=Europe/Berlin: time zones by name are not available; use UTC or an offset such as EST5"} {
		p, stdout, stderr := newTestProcess(t, nil, "date", "-d", "@0", "+%-H %Z")
		p.Env = lookup([]string{"TZ=" + zone})
		date(t.Context(), p)
		if got := strings.TrimSpace(stdout.String() + stderr.String()); got != want {
			t.Errorf("date with TZ=%s prints %q, want %q", zone, got, want)
		}
	}
}

func TestWhich(t *testing.T) {
	t.Parallel()
	p, stdout, _ := newTestProcess(t, nil, "which", "cat", "nosuchprogram", "/usr/bin/sort", "/bin/ls", "bin/ls")
	p.Known = func(name string) bool { return Programs[name] != nil }
	if status := which(t.Context(), p); status != 1 || stdout.String() != "/usr/bin/cat\n/usr/bin/sort\n/bin/ls\n" {
		t.Errorf("which returns %d and prints %q", status, stdout)
	}
}

// TestMissingInput names a missing input: the output stays as it is.
func TestMissingInput(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"uniq missing out", "xxd missing out", "xxd -r missing out"} {
		ws := memoryTree(t, map[string]string{"out": "old"})
		if _, stderr, status := run(t, ws, "", line); status == 0 || !strings.Contains(stderr, "missing: No such file") {
			t.Errorf("%s = %q, status %d", line, stderr, status)
		}
		if got := contents(t, ws)["out"]; got != "old" {
			t.Errorf("after %s, out is %q", line, got)
		}
	}
}

// TestSuffixLength has split refuse suffixes that no name can have.
func TestSuffixLength(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"split -a 2000000000 -", "split -a 256 -"} {
		if _, stderr, status := run(t, memoryTree(t, nil), "a\n", line); status != 1 || !strings.Contains(stderr, "suffix length") {
			t.Errorf("%s = %q, status %d, want that it is too long", line, stderr, status)
		}
	}
}
