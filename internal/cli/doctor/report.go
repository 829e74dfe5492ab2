package doctor

import (
	"fmt"
	"strings"

	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/tools"
)

// report is what was found of one workspace.
type report struct {
	Name   string    `json:"name"`
	Kind   string    `json:"kind"`
	About  string    `json:"about,omitempty"`
	OK     bool      `json:"ok"`
	Probes []finding `json:"probes"`

	left string // the file that could not be removed, empty if there is none
}

// finding is what a probe found.
type finding struct {
	Name         string     `json:"name"`
	Status       status     `json:"status"`
	Detail       string     `json:"detail,omitempty"`
	Remedy       string     `json:"remedy,omitempty"`
	Code         tools.Code `json:"code,omitempty"`
	Milliseconds int64      `json:"milliseconds"`
}

// status says what came of a probe.
type status string

const (
	statusOK   status = "ok"
	statusWarn status = "warn" // it works, but something should be known
	statusFail status = "fail"
	statusSkip status = "skip" // not tried, for the reason that is given
)

// printer prints reports for people, or as one JSON object.
type printer struct {
	term.Console
	asJSON   bool
	shown    []report
	failed   int
	warnings int
}

func newPrinter(c term.Console, asJSON bool) *printer {
	return &printer{Console: c, asJSON: asJSON, shown: []report{}}
}

// noteLeft says on standard error what an interrupted run could not remove.
func (p *printer) noteLeft(found report) {
	if found.left != "" {
		p.Note("%s: remove the file %s by hand", found.Name, found.left)
	}
}

// show prints the report on the next workspace, at once.
func (p *printer) show(found report) error {
	p.count(found)
	if p.asJSON {
		return nil
	}
	if len(p.shown) > 1 {
		fmt.Fprintln(p)
	}
	fmt.Fprintf(p, "%s (%s)\n", p.Paint(term.Bold, found.Name), found.Kind)
	for _, f := range found.Probes {
		p.row(f)
	}
	return term.Fail(p.Flush())
}

// count keeps a report for the summary.
func (p *printer) count(found report) {
	p.shown = append(p.shown, found)
	if !found.OK {
		p.failed++
	}
	for _, f := range found.Probes {
		if f.Status == statusWarn {
			p.warnings++
		}
	}
}

// The widths of the columns, so that those of all workspaces are in line.
const (
	nameWidth = len(probeConditional)
	timeWidth = len("30,000 ms")
)

// row prints one finding, and its remedy on a line of its own.
func (p *printer) row(f finding) {
	line := fmt.Sprintf("  %s  %-*s  %*s  %s", p.Paint(statusColors[f.Status], fmt.Sprintf("%-4s", f.Status)),
		nameWidth, f.Name, timeWidth, f.took(), term.Visible(f.Detail, ""))
	fmt.Fprintln(p, strings.TrimRight(line, " "))
	if f.Remedy != "" {
		indent := len("  fail  ") + nameWidth + len("  ") + timeWidth + len("  ")
		fmt.Fprintf(p, "%*s%s %s\n", indent, "", p.Paint(term.Cyan, "remedy:"), term.Visible(f.Remedy, ""))
	}
}

// took returns the time that a probe took, and nothing if it was not made.
func (f finding) took() string {
	if f.Status == statusSkip {
		return ""
	}
	return wording.Thousands(int(f.Milliseconds)) + " ms"
}

// statusColors are the colors of statuses.
var statusColors = map[status]string{statusOK: term.Green, statusWarn: term.Yellow, statusFail: term.BoldRed}

// end prints what there is to say about all.
func (p *printer) end() error {
	if p.asJSON {
		if err := term.PrintJSON(p, map[string]any{"workspaces": p.shown}); err != nil {
			return err
		}
	} else if p.failed == 0 {
		fmt.Fprintf(p, "\n%s\n", p.summary())
	}
	return term.Fail(p.Flush())
}

// summary is the last line if nothing failed.
func (p *printer) summary() string {
	all := wording.Count(len(p.shown), "workspace", "workspaces")
	if p.warnings == 0 {
		return all + ": " + p.Paint(term.Green, "all is well")
	}
	return all + ": " + p.Paint(term.Yellow, wording.Count(p.warnings, "warning", "warnings"))
}

// verdict returns the error of the run, nil if nothing failed.
func (p *printer) verdict() error {
	switch {
	case p.failed == 0:
		return nil
	case len(p.shown) == 1:
		return term.Failf("the workspace does not work as it should")
	}
	return term.Failf("%d of %d workspaces do not work as they should", p.failed, len(p.shown))
}
