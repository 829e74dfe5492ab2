package main

import (
	"fmt"
	"strings"
)

// doctorView prints what was found of each workspace, for people or as one JSON
// object.
type doctorView struct {
	console
	asJSON   bool
	shown    []checkup
	failed   int
	warnings int
}

func newDoctorView(c console, asJSON bool) *doctorView {
	return &doctorView{console: c, asJSON: asJSON, shown: []checkup{}}
}

// left says on standard error what an interrupted run could not remove.
func (v *doctorView) left(found checkup) {
	if found.left != "" {
		v.note("%s: remove the file %s by hand", found.Name, found.left)
	}
}

// show prints what was found of the next workspace, at once.
func (v *doctorView) show(found checkup) error {
	v.count(found)
	if v.asJSON {
		return nil
	}
	if len(v.shown) > 1 {
		fmt.Fprintln(v)
	}
	fmt.Fprintf(v, "%s (%s)\n", v.look.paint(bold, found.Name), found.Kind)
	for _, f := range found.Probes {
		v.row(f)
	}
	return fault(v.Flush())
}

func (v *doctorView) count(found checkup) {
	v.shown = append(v.shown, found)
	if !found.OK {
		v.failed++
	}
	for _, f := range found.Probes {
		if f.Status == statusWarn {
			v.warnings++
		}
	}
}

// The widths of the columns, so that those of all workspaces are in line.
const (
	nameWidth = len(probeConditional)
	timeWidth = len("30,000 ms")
)

// row prints one finding, and its remedy on a line of its own.
func (v *doctorView) row(f finding) {
	line := fmt.Sprintf("  %s  %-*s  %*s  %s", v.look.paint(f.Status.color(), fmt.Sprintf("%-4s", f.Status)),
		nameWidth, f.Name, timeWidth, f.took(), visible(f.Detail, ""))
	fmt.Fprintln(v, strings.TrimRight(line, " "))
	if f.Remedy != "" {
		indent := len("  fail  ") + nameWidth + len("  ") + timeWidth + len("  ")
		fmt.Fprintf(v, "%*s%s %s\n", indent, "", v.look.paint(cyan, "remedy:"), visible(f.Remedy, ""))
	}
}

func (f finding) took() string {
	if f.Status == statusSkip {
		return ""
	}
	return thousands(int(f.Milliseconds)) + " ms"
}

func (s status) color() string {
	switch s {
	case statusOK:
		return green
	case statusWarn:
		return yellow
	case statusFail:
		return boldRed
	}
	return noColor
}

// end prints what there is to say of all.
func (v *doctorView) end() error {
	if v.asJSON {
		if err := printJSON(v, map[string]any{"workspaces": v.shown}); err != nil {
			return err
		}
	} else if v.failed == 0 {
		fmt.Fprintf(v, "\n%s\n", v.summary())
	}
	return fault(v.Flush())
}

// summary is the last line if nothing failed.
func (v *doctorView) summary() string {
	all := count(len(v.shown), "workspace", "workspaces")
	if v.warnings == 0 {
		return all + ": " + v.look.paint(green, "all is well")
	}
	return all + ": " + v.look.paint(yellow, count(v.warnings, "warning", "warnings"))
}

// verdict is the error of the run: nil if nothing failed.
func (v *doctorView) verdict() error {
	if v.failed == 0 {
		return nil
	}
	return unwell(v.failed, len(v.shown))
}
