// Package doctor has the command that tries workspaces and says what to do about what fails.
// In go the workspaces that the flags choose; out comes a report on each, with a finding for
// each probe.
//
//	doctor.go     the command, and how reports are printed
//	probes.go     the probes of one workspace
//	remedies.go   what to do about an error
package doctor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/tools"
)

const long = `Doctor opens each workspace and tests it: reads, writes, conditional writes, a watch and,
where commands can run, "sh -c true", which needs no approval. It also counts the files,
and says what the workspace runs on. For each problem it prints a remedy.

Doctor writes one file, named ".workspace-doctor-" and random characters, and deletes
it before it ends, even if it is interrupted. An audit log records that, and undo
leaves it out. Otherwise it changes only what opening a workspace changes: it creates a
missing container with the key keep, for example. In a bucket, it may leave an empty
directory. It writes nothing to a read-only workspace.

Doctor exits with 1 if something fails, and with 0 otherwise, also with warnings. With
--json, it prints

  {"workspaces": [{"name", "kind", "about", "ok", "probes": [
    {"name", "status", "detail", "remedy", "code", "milliseconds"}]}]}`

const example = `  workspace doctor
  workspace doctor --json
  workspace doctor --timeout 2m`

// defaultTimeout is how long a probe may take if no flag says otherwise.
const defaultTimeout = 30 * time.Second

// atOnce is how many workspaces are tried at a time.
const atOnce = 4

// New returns the command.
func New(flags *target.Flags) *cobra.Command {
	d := &doctor{flags: flags}
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "Test that the workspaces work, and print remedies",
		Long:    long,
		Example: example,
		Args:    term.Positional,
		RunE:    func(cmd *cobra.Command, _ []string) error { return d.run(cmd) },
	}
	cmd.Flags().BoolVar(&d.asJSON, "json", false, "print the findings as one JSON object")
	cmd.Flags().DurationVar(&d.timeout, "timeout", defaultTimeout, "end each probe after this time")
	return cmd
}

// doctor is one run of the command.
type doctor struct {
	flags   *target.Flags
	asJSON  bool
	timeout time.Duration
	file    string // the text of the file, empty without one
}

// run tries the workspaces that the flags choose, and prints each report in their order as
// soon as it is there. If it is interrupted, it still waits for all of them, as each removes
// its file.
func (d *doctor) run(cmd *cobra.Command) error {
	if d.timeout <= 0 {
		return errors.New("--timeout must be longer than nothing")
	}
	chosen, err := d.flags.Select()
	if err != nil {
		return err
	}
	d.file = chosen.Text()
	out := bufio.NewWriter(cmd.OutOrStdout())
	p := newPrinter(term.Console{Writer: out, Style: d.flags.Style(cmd.OutOrStdout()), Notes: cmd.ErrOrStderr()}, d.asJSON)
	for _, result := range d.diagnoseAll(cmd.Context(), chosen.Targets()) {
		found := <-result
		p.noteLeft(found)
		if cmd.Context().Err() != nil {
			continue // the other runs may have left files, too
		}
		p.show(found)
	}
	if err := cmd.Context().Err(); err != nil {
		return err
	}
	if err := p.end(); err != nil {
		return err
	}
	return p.verdict()
}

// diagnoseAll tries all targets, some at a time, and returns where what is found of each will
// come. Each channel gets one report, also when ctx has ended.
func (d *doctor) diagnoseAll(ctx context.Context, targets []target.Target) []chan report {
	free := make(chan struct{}, atOnce)
	results := make([]chan report, len(targets))
	for i, t := range targets {
		results[i] = make(chan report, 1)
		go func() {
			free <- struct{}{}
			defer func() { <-free }()
			one := &diagnosis{target: t, config: d.file, timeout: d.timeout}
			results[i] <- one.run(ctx)
		}()
	}
	return results
}

// report is what was found of one workspace.
type report struct {
	Name   string    `json:"name"`
	Kind   string    `json:"kind"`
	About  string    `json:"about,omitempty"` // what the workspace runs on, "" if not known
	OK     bool      `json:"ok"`              // no probe failed; there can be warnings
	Probes []finding `json:"probes"`          // in the order in which they were made

	untried bool   // a rule did not let a probe be made
	left    string // the file that could not be removed, empty if there is none
}

// finding is what a probe found.
type finding struct {
	Name         string     `json:"name"`
	Status       status     `json:"status"`
	Detail       string     `json:"detail,omitempty"`
	Remedy       string     `json:"remedy,omitempty"`
	Code         tools.Code `json:"code,omitempty"`
	Milliseconds int64      `json:"milliseconds"` // that the probe took
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
	shown    []report // for --json
	failed   int      // how many workspaces failed
	warnings int
	untried  []string // the workspaces where rules did not let all probes be made
}

// newPrinter returns a printer that has printed nothing. With asJSON, an empty list is
// [] and not null.
func newPrinter(c term.Console, asJSON bool) *printer {
	return &printer{Console: c, asJSON: asJSON, shown: []report{}}
}

// noteLeft says on standard error what an interrupted run could not remove.
func (p *printer) noteLeft(found report) {
	if found.left != "" {
		p.Note("%s: remove the file %s by hand", found.Name, found.left)
	}
}

// show prints the report on the next workspace, at once. With --json nothing is printed before
// the end, which also returns what cannot be written here.
func (p *printer) show(found report) {
	p.count(found)
	if p.asJSON {
		return
	}
	if len(p.shown) > 1 {
		fmt.Fprintln(p)
	}
	fmt.Fprintf(p, "%s (%s)\n", p.Paint(term.Bold, found.Name), found.Kind)
	for _, f := range found.Probes {
		p.row(f)
	}
	_ = p.Flush()
}

// count keeps a report for the summary.
func (p *printer) count(found report) {
	p.shown = append(p.shown, found)
	if !found.OK {
		p.failed++
	}
	if found.untried {
		p.untried = append(p.untried, found.Name)
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

// end prints what there is to say about all. If something failed, the error of the command is
// the last line instead.
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
	var found []string
	if p.warnings > 0 {
		found = append(found, wording.Count(p.warnings, "warning", "warnings"))
	}
	if len(p.untried) > 0 {
		found = append(found, "not all was tried in "+strings.Join(p.untried, ", "))
	}
	if len(found) == 0 {
		return all + ": " + p.Paint(term.Green, "all is well")
	}
	return all + ": " + p.Paint(term.Yellow, strings.Join(found, "; "))
}

// verdict returns the error of the run, nil if nothing failed.
func (p *printer) verdict() error {
	switch {
	case p.failed == 0:
		return nil
	case len(p.shown) == 1:
		return term.Failf("the workspace does not work as it should")
	}
	if p.failed == 1 {
		return term.Failf("1 of %d workspaces does not work as it should", len(p.shown))
	}
	return term.Failf("%d of %d workspaces do not work as they should", p.failed, len(p.shown))
}
