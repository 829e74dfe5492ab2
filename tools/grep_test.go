package tools_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/workspace"
)

func TestGrep(t *testing.T) {
	set, _ := newSet(t, map[string]string{"src/a.go": "one\ntwo\nthree\ntwo\n", "src/b.txt": "two\r\n", "c": "TWO(\n"}, nil)
	tests := []struct {
		name string
		args object
		want string
	}{
		{"all", object{"pattern": "two"}, "src/a.go\n2:two\n4:two\n\nsrc/b.txt\n1:two"},
		{"context", object{"pattern": "two", "path": "src/a.go", "before": 1, "after": 1}, "src/a.go\n1-one\n2:two\n3-three\n4:two"},
		{"context-apart", object{"pattern": "one|two$", "path": "src/a.go", "maxResults": 3, "before": 0, "after": 0}, "src/a.go\n1:one\n2:two\n4:two"},
		{"include", object{"pattern": "two", "includeGlob": "*.txt"}, "src/b.txt\n1:two"},
		{"exclude", object{"pattern": "two", "excludeGlob": "src/**/*.go"}, "src/b.txt\n1:two"},
		{"ignore-case-literal", object{"pattern": "two(", "literal": true, "ignoreCase": true}, "c\n1:TWO("},
		{"nothing", object{"pattern": "four"}, "No lines match."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := call(t, set, "grep", tt.args).Text; got != tt.want {
				t.Errorf("text = %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("structured", func(t *testing.T) {
		got := good(t, set, "grep", object{"pattern": "three", "before": 1, "after": 1})
		want := object{"matches": []any{object{"path": "src/a.go", "lineNumber": 3.0, "line": "three", "before": []any{"two"}, "after": []any{"two"}}},
			"truncated": false, "skipped": []any{}, "skippedTotal": 0.0}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("grep (-want +got):\n%s", diff)
		}
	})
}

func TestGrepContextHasGaps(t *testing.T) {
	var content strings.Builder
	for i := 1; i <= 20; i++ {
		fmt.Fprintf(&content, "line %d\n", i)
	}
	set, _ := newSet(t, map[string]string{"a": content.String()}, nil)
	got := call(t, set, "grep", object{"pattern": "line (3|4|15)$", "before": 1, "after": 1}).Text
	want := "a\n2-line 2\n3:line 3\n4:line 4\n5-line 5\n--\n14-line 14\n15:line 15\n16-line 16"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

func TestGrepCutsLongLines(t *testing.T) {
	filler := strings.Repeat("é", 1000)
	set, _ := newSet(t, map[string]string{"a": filler + "needle" + filler + "\nneedle" + filler + "\n" + filler + "\n"}, nil)
	matches := good(t, set, "grep", object{"pattern": "NEEDLE", "ignoreCase": true, "after": 1})["matches"].([]any)
	first, second := matches[0].(object), matches[1].(object)
	for _, m := range []object{first, second} {
		if line := m["line"].(string); m["lineTruncated"] != true || !strings.Contains(line, "needle") || len(line) > 1200 {
			t.Errorf("line of %d bytes: %q, truncated %v", len(line), line, m["lineTruncated"])
		}
	}
	contains(t, "line", first["line"].(string), "[cut: 875 characters] …é", "… [cut: ")
	if line := second["line"].(string); !strings.HasPrefix(line, "needle") {
		t.Errorf("line = %q", line)
	}
	contains(t, "after", second["after"].([]any)[0].(string), "… [cut: 500 more characters]")
}

func TestGrepSaysWhatItSkipped(t *testing.T) {
	files := map[string]string{"z.txt": "needle\nneedle\n", "big": strings.Repeat("x", 2000), "a.txt": "needle\n"}
	for i := range 30 {
		files[fmt.Sprintf("bin%02d", i)] = "\x00"
	}
	set, _ := newSet(t, files, &workspace.Options{MaxFileSize: 1000})
	out := good(t, set, "grep", object{"pattern": "needle"})
	skipped := out["skipped"].([]any)
	if diff := cmp.Diff(object{"path": "big", "reason": "too large"}, skipped[0]); diff != "" || len(skipped) != 20 || out["skippedTotal"] != 31.0 {
		t.Errorf("%d skipped of %v, first (-want +got):\n%s", len(skipped), out["skippedTotal"], diff)
	}
	contains(t, "text", call(t, set, "grep", object{"pattern": "needle"}).Text, "[not searched: 31 files]\nbig (too large)\nbin00 (binary)\n", "\nand 11 more")

	// Pages list each skipped file once.
	total, args := 0.0, object{"pattern": "needle", "maxResults": 1}
	for range 10 {
		out := good(t, set, "grep", args)
		total += out["skippedTotal"].(float64)
		if args["cursor"] = out["nextCursor"]; out["nextCursor"] == nil {
			break
		}
	}
	if total != 31 {
		t.Errorf("pages skipped %v files, want 31", total)
	}
}

// TestGrepSkippedOnPagesCutByBytes checks that each skipped file is listed
// once where it is the bytes that end a page.
func TestGrepSkippedOnPagesCutByBytes(t *testing.T) {
	files := map[string]string{}
	for i := range 500 {
		files[fmt.Sprintf("%03d.txt", i)] = "needle " + strings.Repeat("x", 400)
		files[fmt.Sprintf("%03d.bin", i)] = "\x00"
	}
	set, _ := newSet(t, files, nil)
	total, calls, args := 0.0, 0, object{"pattern": "needle", "maxResults": 1000}
	for more := true; more; calls++ {
		out := good(t, set, "grep", args)
		total += out["skippedTotal"].(float64)
		args["cursor"], more = out["nextCursor"]
	}
	if total != 500 || calls < 3 {
		t.Errorf("%d pages skipped %v files, want 500", calls, total)
	}
}

func TestGrepInvalidUTF8(t *testing.T) {
	set, _ := newSet(t, map[string]string{"a": "caf\xe9 needle\n"}, nil)
	m := good(t, set, "grep", object{"pattern": "needle"})["matches"].([]any)[0].(object)
	if m["line"] != "caf\uFFFD needle" {
		t.Errorf("line = %q", m["line"])
	}
}
