package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// diffView prints what a write or an edit did, and the diff.
type diffView struct{ console }

type diffResult struct {
	Path         string `json:"path"`
	Created      bool   `json:"created"`
	Bytes        int    `json:"bytes"`
	Replacements int    `json:"replacements"`
	Diff         string `json:"diff"`
	DiffNote     string `json:"diffNote"`
	DryRun       bool   `json:"dryRun"`
}

func (v *diffView) show(result json.RawMessage) error {
	var r diffResult
	if err := json.Unmarshal(result, &r); err != nil {
		return fault(err)
	}
	fmt.Fprintln(v, r.summary(v.look))
	for line := range strings.Lines(r.Diff) {
		text := strings.TrimRight(line, "\r\n")
		fmt.Fprintf(v, "%s\n", v.look.paint(diffColor(text), v.look.line(text)))
	}
	if err := v.Flush(); err != nil {
		return fault(err)
	}
	if r.DiffNote != "" {
		v.note("%s", r.DiffNote)
	}
	return nil
}

func (v *diffView) end() error { return nil }

func (r diffResult) summary(l look) string {
	name := l.name(r.Path)
	switch {
	case r.DryRun:
		return fmt.Sprintf("would edit %s: %s", name, times(r.Replacements))
	case r.Replacements > 0:
		return fmt.Sprintf("edited %s: %s", name, times(r.Replacements))
	case r.Created:
		return fmt.Sprintf("created %s (%d bytes)", name, r.Bytes)
	}
	return fmt.Sprintf("wrote %s (%d bytes)", name, r.Bytes)
}

func times(n int) string {
	if n == 1 {
		return "1 replacement"
	}
	return fmt.Sprintf("%d replacements", n)
}

func diffColor(line string) string {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		return bold
	case strings.HasPrefix(line, "@@"):
		return cyan
	case strings.HasPrefix(line, "+"):
		return green
	case strings.HasPrefix(line, "-"):
		return red
	}
	return noColor
}
