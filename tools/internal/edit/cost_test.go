package edit_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/tools/internal/edit"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestManyReplacementsAreFast has a deadline that only work which is not linear misses:
// for each of 90,000 replacements on a line, or in a file, that is long.
func TestManyReplacementsAreFast(t *testing.T) {
	exhaustive.Long(t)
	const many = 90_000
	blanks := strings.Repeat(" ", 19)
	for name, c := range map[string]struct {
		data string
		edit edit.Edit
	}{
		"after a short line":     {"a\n" + strings.Repeat("a"+blanks, many), edit.Edit{Old: "a", New: "b", All: true}},
		"regexp with line feeds": {strings.Repeat(blanks+";", many), edit.Edit{Old: ";", New: ";\n", All: true, Regexp: true}},
		"tolerant, with LF":      {strings.Repeat(strings.Repeat(blanks, 4)+"“a”\n", many), edit.Edit{Old: `"a"`, New: "b\nc", All: true, Tolerant: true}},
		"tolerant, with CRLF":    {strings.Repeat(blanks+"“a”\r\n", many), edit.Edit{Old: `"a"`, New: "b\nc", All: true, Tolerant: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			change, err := edit.New([]byte(c.data), []edit.Edit{c.edit})
			if err != nil {
				t.Fatal(err)
			}
			change.Head(256 << 10)
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("the edit took %v", took)
			}
		})
	}
}

// TestTextThatNearlyOccursIsFast looks for a text whose beginning, or end, is at each place.
func TestTextThatNearlyOccursIsFast(t *testing.T) {
	exhaustive.Long(t)
	t.Parallel()
	data := []byte(strings.Repeat("q", 8<<20) + "!")
	for _, old := range []string{strings.Repeat("q", 1<<16) + "e", "e" + strings.Repeat("q", 1<<16), strings.Repeat("q", 1<<16) + "!"} {
		start := time.Now()
		_, err := edit.New(data, []edit.Edit{{Old: old, New: "new"}})
		if found := strings.HasSuffix(old, "!"); found != (err == nil) || !found && !errors.Is(err, edit.ErrTextNotFound) {
			t.Errorf("New = %v", err)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("the search took %v", took)
		}
	}
}

// TestReplacementsAreBounded has edits whose replacements, one for each place, would
// take gigabytes.
func TestReplacementsAreBounded(t *testing.T) {
	exhaustive.Long(t)
	long := strings.Repeat(strings.Repeat("x", 999)+"\n", 100)
	for name, c := range map[string]struct {
		data string
		edit edit.Edit
		want error
	}{
		"a group many times": {strings.Repeat("a", 1<<20), edit.Edit{Old: "a+", New: strings.Repeat("$0", 3000), Regexp: true}, workspace.ErrTooLarge},
		"a named group":      {strings.Repeat("a", 1<<20), edit.Edit{Old: "(?P<all>a+)", New: strings.Repeat("${all}", 3000), Regexp: true}, workspace.ErrTooLarge},
		"a long text":        {strings.Repeat("a", 90_000), edit.Edit{Old: "a", New: long, All: true, Regexp: true}, workspace.ErrTooLarge},
		"indented":           {strings.Repeat("  a\n  b\n", 40_000), edit.Edit{Old: "a\nb\n", New: long, All: true, Tolerant: true}, workspace.ErrTooLarge},
		"many groups":        {strings.Repeat("a", 90_000), edit.Edit{Old: "a" + strings.Repeat("()", 101), New: "b", All: true, Regexp: true}, edit.ErrPattern},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := edit.New([]byte(c.data), []edit.Edit{c.edit})
			if !errors.Is(err, c.want) {
				t.Errorf("New = %v, want %v", err, c.want)
			}
		})
	}
}

// TestReplacementsOfSeveralEditsAreBounded has two edits that are too much together.
func TestReplacementsOfSeveralEditsAreBounded(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	data := []byte(strings.Repeat("a", 140) + strings.Repeat("b", 140))
	one, two := edit.Edit{Old: "a", New: long, All: true}, edit.Edit{Old: "b", New: long, All: true, Tolerant: true}
	if _, err := edit.New(data, []edit.Edit{one}); err != nil {
		t.Errorf("New with one edit = %v", err)
	}
	if _, err := edit.New(data, []edit.Edit{one, two}); !errors.Is(err, workspace.ErrTooLarge) {
		t.Errorf("New with two edits = %v, want %v", err, workspace.ErrTooLarge)
	}
}
