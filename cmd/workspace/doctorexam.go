package main

import (
	"context"
	"time"

	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// checkup is what was found of one workspace.
type checkup struct {
	Name   string    `json:"name"`
	Kind   string    `json:"kind"`
	About  string    `json:"about,omitempty"`
	OK     bool      `json:"ok"`
	Probes []finding `json:"probes"`

	left string // the file that could not be removed
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

// outcome is what a probe returns.
type outcome struct {
	status status
	detail string
	remedy string
	err    error // says detail and remedy itself
}

func healthy(detail string) outcome { return outcome{status: statusOK, detail: detail} }
func skipped(detail string) outcome { return outcome{status: statusSkip, detail: detail} }
func failed(err error) outcome      { return outcome{status: statusFail, err: err} }

// The names of the probes.
const (
	probeOpen        = "open"
	probeRead        = "read"
	probeWrite       = "write"
	probeConditional = "conditional write"
	probeWatch       = "watch"
	probeSize        = "size"
	probeVersion     = "version"
	probeCleanUp     = "clean up"
)

// examination tries one workspace.
type examination struct {
	target  target
	timeout time.Duration

	ws    *workspace.Workspace
	about func(context.Context) (string, error)
	mark  mark
	found checkup
}

// run makes all probes, and removes what they have left.
func (e *examination) run(ctx context.Context) checkup {
	e.found = checkup{Name: e.target.name, Kind: e.target.kind, OK: true, Probes: []finding{}}
	release := func() {}
	opened := e.probe(ctx, probeOpen, func(ctx context.Context) outcome {
		ws, about, closes, err := e.target.open(ctx)
		if err != nil {
			return failed(err)
		}
		e.ws, e.about, release = ws, about, closes
		// What waits for the first use, such as a container, begins with this.
		if _, err := ws.Stat(ctx, "."); err != nil {
			return failed(err)
		}
		return healthy("")
	})
	if opened && e.probe(ctx, probeRead, e.read) {
		e.tryWriting(ctx)
		e.probe(ctx, probeSize, e.size)
		e.probe(ctx, probeVersion, e.version)
	}
	release()
	return e.found
}

// tryWriting makes the probes that share a file, and removes that.
func (e *examination) tryWriting(ctx context.Context) {
	defer e.cleanUp(ctx)
	e.probe(ctx, probeWrite, e.write)
	e.probe(ctx, probeConditional, e.conditional)
	e.probe(ctx, probeWatch, e.watch)
}

// probe makes one probe, and reports whether it did not fail. It makes none
// once ctx has ended.
func (e *examination) probe(ctx context.Context, name string, do func(context.Context) outcome) bool {
	if ctx.Err() != nil {
		return false
	}
	probing, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	begun := time.Now()
	o := do(probing)
	e.add(name, o, time.Since(begun))
	return o.status != statusFail
}

// add adds what a probe returned.
func (e *examination) add(name string, o outcome, took time.Duration) {
	f := finding{Name: name, Status: o.status, Detail: o.detail, Remedy: o.remedy, Milliseconds: took.Milliseconds()}
	if o.err != nil {
		f.Code = tools.CodeOf(o.err)
		f.Detail, f.Remedy = diagnose(o.err, symptom{name: e.target.name, kind: e.target.kind, probe: name, timeout: e.timeout})
	}
	e.found.OK = e.found.OK && o.status != statusFail
	e.found.Probes = append(e.found.Probes, f)
}
