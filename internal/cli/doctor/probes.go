package doctor

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// outcome is what a probe returns.
type outcome struct {
	status status
	detail string // what was found, for a person
	remedy string // what to do about it
	err    error  // says detail and remedy itself

	untried bool // a rule forbids it, or asks about it
}

// healthy is the outcome of a probe that found nothing wrong.
func healthy(detail string) outcome { return outcome{status: statusOK, detail: detail} }

// skipped is the outcome of a probe that does not apply, for the reason in detail.
func skipped(detail string) outcome { return outcome{status: statusSkip, detail: detail} }

// failed is the outcome of a probe that failed with err. What a rule forbids, or asks about
// first, is no defect.
func failed(err error) outcome {
	if errors.Is(err, workspace.ErrPolicy) {
		return outcome{status: statusSkip, detail: "not tried: " + term.Plain(err), untried: true}
	}
	return outcome{status: statusFail, err: err}
}

// The names of the probes.
const (
	probeOpen        = "open"
	probeRead        = "read"
	probeWrite       = "write"
	probeConditional = "conditional write"
	probeWatch       = "watch"
	probeRun         = "run"
	probeSize        = "size"
	probeVersion     = "version"
	probeCleanUp     = "clean up"
)

// diagnosis tries one workspace.
//
// Each probe is a method that returns an [outcome]. The probes that write share one file,
// which cleanUp removes, also if the context has ended.
//
//	open                opens the workspace, and starts what it needs
//	read                lists the root, and reads a file
//	write               creates a file with a random name, and reads it back
//	conditional write   writes under conditions: one that holds, two that do not
//	watch               waits for the event of a write
//	clean up            only if that file could not be removed
//	run                 runs a command, only if there are commands
//	size                counts files and bytes
//	version             asks what the workspace runs on
//
// If open or read fails, the others are left out.
type diagnosis struct {
	target  target.Target
	config  string        // the text of the file, empty without one
	timeout time.Duration // of each probe

	ws    *config.Workspace // that is examined, nil until it is open
	file  probeFile         // what the probes write and read
	found report            // so far
}

// run makes all probes, and closes the workspace.
func (d *diagnosis) run(ctx context.Context) report {
	d.found = report{Name: d.target.Name, Kind: d.target.Kind, OK: true, Probes: []finding{}}
	ctx = session.WithoutUndo(ctx)
	opened := d.probe(ctx, probeOpen, d.open)
	if d.ws != nil {
		defer d.ws.Close()
	}
	if opened && d.probe(ctx, probeRead, d.read) {
		d.tryWriting(ctx)
		if d.ws.Capabilities().Run {
			d.probe(ctx, probeRun, d.command)
		}
		d.probe(ctx, probeSize, d.size)
		d.probe(ctx, probeVersion, d.version)
	}
	return d.found
}

// open opens the workspace and starts what waits for the first use, such as a
// container.
func (d *diagnosis) open(ctx context.Context) outcome {
	ws, err := d.target.Open(ctx)
	if err != nil {
		return failed(err)
	}
	d.ws = ws
	if _, err := ws.Stat(ctx, "."); err != nil {
		return failed(err)
	}
	return healthy("")
}

// tryWriting makes the probes that share a file, and removes it.
func (d *diagnosis) tryWriting(ctx context.Context) {
	defer d.cleanUp(ctx)
	d.probe(ctx, probeWrite, d.write)
	d.probe(ctx, probeConditional, d.conditional)
	d.probe(ctx, probeWatch, d.watch)
}

// probe makes one probe, and reports whether it did not fail. It makes none once ctx has
// ended. Each has the whole timeout, so a slow start of a container does not take the time of
// the next probe.
func (d *diagnosis) probe(ctx context.Context, name string, do func(context.Context) outcome) bool {
	if ctx.Err() != nil {
		return false
	}
	probing, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	begun := time.Now()
	o := do(probing)
	d.add(name, o, time.Since(begun))
	return o.status != statusFail
}

// add adds what a probe returned.
func (d *diagnosis) add(name string, o outcome, took time.Duration) {
	f := finding{Name: name, Status: o.status, Detail: o.detail, Remedy: o.remedy, Milliseconds: took.Milliseconds()}
	if o.err != nil {
		f.Code = tools.CodeOf(o.err)
		f.Detail, f.Remedy = explain(o.err, symptom{name: d.target.Name, kind: d.target.Kind, probe: name, file: d.config, timeout: d.timeout})
	}
	d.found.OK = d.found.OK && o.status != statusFail
	d.found.untried = d.found.untried || o.untried
	d.found.Probes = append(d.found.Probes, f)
}

// explain returns what an error says, and what to do about it. An error that has
// a remedy knows best; otherwise the kind of provider and the code of the error
// decide.
func explain(err error, s symptom) (detail, remedy string) {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("no answer in %s", s.timeout),
			"Try a longer --timeout: an engine may be loading an image, or a store be far away."
	}
	detail = words(err, s)
	if own := ops.RemedyOf(err); own != "" { // which is not printed twice
		return oneLine(strings.Replace(detail, ": "+own, "", 1), s.file), wording.Sentence(own)
	}
	return oneLine(detail, s.file), s.remedy(err)
}

// words returns the text of err, with its place if it has one in a file.
func words(err error, s symptom) string {
	var inFile *config.Error
	if !errors.As(err, &inFile) {
		return term.Plain(err)
	}
	p := inFile.Problems[0]
	text := strings.TrimPrefix(p.Text, fmt.Sprintf("the workspace %q cannot be opened: ", s.name))
	if p.Line == 0 {
		return text
	}
	return fmt.Sprintf("%s:%d:%d: %s", filepath.Base(inFile.File), p.Line, p.Column, text)
}

// Bounds of the probe of reading.
const (
	maxListed   = 1000
	maxAttempts = 5
	maxRead     = 1 << 20
)

// read lists the root, and reads a file. A root that cannot be listed is a failure, and files
// that cannot be read are a warning.
func (d *diagnosis) read(ctx context.Context) outcome {
	children, err := d.ws.Ls(ctx, ".", &workspace.LsOptions{Limit: maxListed + 1})
	if err != nil {
		return failed(err)
	}
	// Another workspace of the same folder may be tried at this moment.
	children = slices.DeleteFunc(children, func(info workspace.FileInfo) bool { return IsProbeFile(info.Name) })
	entries := wording.Count(len(children), "entry", "entries")
	if len(children) > maxListed {
		entries = "more than " + wording.Count(maxListed, "entry", "entries")
	}
	name, err := d.readAny(ctx, children)
	switch {
	case err != nil:
		return outcome{status: statusWarn, err: err}
	case len(children) == 0:
		return healthy("empty")
	case name == "":
		return healthy(fmt.Sprintf("%s, none a file of at most %s", entries, wording.Bytes(d.readLimit())))
	}
	return healthy(entries + ", " + term.Visible(name, "") + " read")
}

// readAny reads the first file that can be read, of those at the top or, if there are none, of
// those below. It returns no name if there is none, and the last error if some cannot be read.
// At most maxAttempts are tried.
func (d *diagnosis) readAny(ctx context.Context, children []workspace.FileInfo) (string, error) {
	names := d.readable(children)
	if len(names) == 0 {
		names = d.below(ctx)
	}
	var last error
	for _, name := range names[:min(len(names), maxAttempts)] {
		if _, last = d.ws.ReadFile(ctx, name); last == nil {
			return name, nil
		}
	}
	return "", last
}

// readLimit returns the size of the largest file that is worth a read.
func (d *diagnosis) readLimit() int64 {
	if own := d.ws.MaxFileSize(); own > 0 {
		return min(maxRead, own)
	}
	return maxRead
}

// readable returns the names of the files that are worth a read.
func (d *diagnosis) readable(infos []workspace.FileInfo) []string {
	limit := d.readLimit()
	var names []string
	for _, info := range infos {
		if info.Type == workspace.TypeFile && info.Size <= limit && !IsProbeFile(info.Name) {
			names = append(names, info.Path)
		}
	}
	return names
}

// below returns the first files below the top.
func (d *diagnosis) below(ctx context.Context) []string {
	var names []string
	d.walk(ctx, func(info workspace.FileInfo) bool {
		names = append(names, d.readable([]workspace.FileInfo{info})...)
		return len(names) < maxAttempts
	})
	return names
}

// walk visits the first entries of the workspace, while visit returns true. It
// leaves out what cannot be listed, which the probe of the size reports.
func (d *diagnosis) walk(ctx context.Context, visit func(workspace.FileInfo) bool) {
	seen := 0
	_ = d.ws.Walk(ctx, ".", nil, func(info workspace.FileInfo, err error) error {
		if seen++; seen > maxListed || err == nil && !visit(info) {
			return fs.SkipAll
		}
		return nil
	})
}

// probeFilePrefix begins the names of the files that doctors write.
const probeFilePrefix = ".workspace-doctor-"

// probeFile is the one file that a diagnosis writes.
type probeFile struct {
	name    string // empty if there is none
	written bool   // false if a write failed, which may have created the file
	version workspace.Version
}

// IsProbeFile reports whether a doctor has written the file name.
func IsProbeFile(name string) bool { return strings.HasPrefix(path.Base(name), probeFilePrefix) }

// probeData returns content that a store which handles it as text would change. It differs for
// each n. It has every byte, NUL and both line ends, and is no valid UTF-8.
func probeData(n byte) []byte {
	data := []byte{n, 0, 0xFF, 0xFE}
	for b := range 256 {
		data = append(data, byte(b))
	}
	return append(data, "\r\nworkspace doctor\r\n\n"...)
}

// write writes the file under a name that is free and allowed, and reads it.
func (d *diagnosis) write(ctx context.Context) outcome {
	if !d.ws.Capabilities().Write {
		return skipped("read-only: not tried")
	}
	base := probeFilePrefix + strings.ToLower(rand.Text()[:10])
	err := d.create(ctx, base)
	if errors.Is(err, workspace.ErrPolicy) {
		err = d.makeElsewhere(ctx, base, err)
	}
	if err != nil {
		return failed(err)
	}
	read, err := d.ws.ReadFile(ctx, d.file.name)
	if err != nil {
		return failed(err)
	}
	if !bytes.Equal(read, probeData(0)) {
		return outcome{
			status: statusFail, detail: fmt.Sprintf("%d bytes were written, and %d others read back", len(probeData(0)), len(read)),
			remedy: "Do not use this store: it does not keep files as they are.",
		}
	}
	detail := "written, read back the same"
	if dir, _ := workspace.Split(d.file.name); dir != "." {
		detail += ", in " + dir
	}
	return healthy(detail)
}

// create creates the file name, without replacing one. Where the store has no conditions, it
// looks first. If the write fails without saying that nothing was written, d.file has the
// name, so that cleanUp looks for it.
func (d *diagnosis) create(ctx context.Context, name string) error {
	// The name is free, so this only says whether a rule would let the file stay.
	if err := d.ws.Rm(ctx, name, nil); errors.Is(err, workspace.ErrPolicy) {
		return err
	}
	opts := &workspace.WriteOptions{IfNotExist: d.ws.Capabilities().ConditionalWrite}
	if !opts.IfNotExist {
		_, err := d.ws.Stat(ctx, name)
		switch {
		case err == nil:
			return ops.Error(ops.WriteFile, name, fs.ErrExist, nil)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	d.file.name = name // even if there is an error, it may exist
	version, err := d.ws.WriteFile(ctx, name, probeData(0), opts)
	if errors.Is(err, fs.ErrExist) || errors.Is(err, workspace.ErrPolicy) {
		d.file.name = "" // the file belongs to someone else
	}
	d.file.written, d.file.version = err == nil, version
	return err
}

// maxNames is how many names are tried to find one that is allowed.
const maxNames = 50

// makeElsewhere makes the file beside what can be seen in the workspace, as what can be seen
// is allowed: in each directory, and with the extension of each file. If no name is, it returns
// refused, the error of base.
func (d *diagnosis) makeElsewhere(ctx context.Context, base string, refused error) error {
	tried := map[string]bool{base: true}
	for _, name := range d.elsewhere(ctx, base) {
		if tried[name] || len(tried) > maxNames {
			continue
		}
		tried[name] = true
		if err := d.create(ctx, name); !errors.Is(err, workspace.ErrPolicy) {
			return err
		}
	}
	return refused
}

// elsewhere returns names that base can have beside what there is.
func (d *diagnosis) elsewhere(ctx context.Context, base string) []string {
	var names []string
	d.walk(ctx, func(info workspace.FileInfo) bool {
		dir, file := workspace.Split(info.Path)
		if info.IsDir() {
			dir, file = info.Path, ""
		}
		names = append(names, workspace.Join(dir, base+path.Ext(file)))
		return true
	})
	return names
}

// cleanUpTime bounds the removal of the file.
const cleanUpTime = 10 * time.Second

// cleanUp removes the file, also if ctx has ended. A file that is not there any more is no
// error. Nor is one that cannot be looked for after a write that failed, as it was probably
// never made.
func (d *diagnosis) cleanUp(ctx context.Context) {
	if d.file.name == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
	defer cancel()
	begun := time.Now()
	err := d.ws.Rm(ctx, d.file.name, nil)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return
	}
	if _, statErr := d.ws.Stat(ctx, d.file.name); statErr != nil && (errors.Is(statErr, fs.ErrNotExist) || !d.file.written) {
		return
	}
	d.found.left = d.file.name
	d.add(probeCleanUp, outcome{status: statusFail, err: err}, time.Since(begun))
	last := &d.found.Probes[len(d.found.Probes)-1]
	last.Detail = d.file.name + " could not be removed: " + last.Detail
	last.Remedy = "Remove that file by hand. " + last.Remedy
}

// conditional finds out whether the store honours the conditions of writes. It
// makes writes whose conditions do not hold.
//
//	create only, though the file exists     must be ErrExist
//	by its version                          must succeed, and make another version
//	by the old version again                must be ErrConflict
//
// A store that ignores conditions succeeds each time, and loses edits of concurrent writers.
func (d *diagnosis) conditional(ctx context.Context) outcome {
	switch {
	case !d.file.written:
		return skipped("not tried: nothing was written")
	case !d.ws.Capabilities().ConditionalWrite:
		return outcome{
			status: statusWarn, detail: "not supported: of two writers at the same time the last one wins",
			remedy: "Let one program at a time write here.",
		}
	}
	_, err := d.ws.WriteFile(ctx, d.file.name, probeData(1), &workspace.WriteOptions{IfNotExist: true})
	if !errors.Is(err, fs.ErrExist) {
		return d.ignored(err, "a write that may only create the file has replaced it")
	}
	if d.file.version == "" { // an empty version is no condition
		return d.ignored(nil, "a write returned no version, so no later write can be conditional on it")
	}
	old := &workspace.WriteOptions{IfVersion: d.file.version}
	if _, err := d.ws.WriteFile(ctx, d.file.name, probeData(2), old); err != nil {
		return failed(err)
	}
	if _, err := d.ws.WriteFile(ctx, d.file.name, probeData(3), old); !errors.Is(err, workspace.ErrConflict) {
		return d.ignored(err, "a write to an old version of the file has replaced the new one")
	}
	return healthy("create-only and by version")
}

// ignored returns the outcome of a write that should have been refused, and that
// returned err.
func (d *diagnosis) ignored(err error, detail string) outcome {
	if err != nil {
		return failed(err)
	}
	remedy := "Let one program at a time write here."
	if d.target.Kind == target.KindStore {
		remedy = `Set "probe: true" in the provider, so that nothing relies on it, or use a store that honours conditions.`
	}
	return outcome{status: statusFail, detail: detail, remedy: remedy}
}

// pollInterval is the time between two listings of a polled watch. The usual one
// can be longer than anybody waits for a doctor.
const pollInterval = time.Second

// watch finds out whether a watch reports a write of the probe itself. The watch begins before
// the write, so the event cannot be missed.
func (d *diagnosis) watch(ctx context.Context) outcome {
	mode := d.ws.Capabilities().Watch
	if mode == workspace.WatchNone {
		return skipped("not supported")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events, err := d.ws.Watch(ctx, ".", &workspace.WatchOptions{Interval: pollInterval})
	if err != nil {
		return failed(err)
	}
	if !d.file.written {
		return healthy(string(mode) + ", started; not written to")
	}
	begun := time.Now()
	if _, err := d.ws.WriteFile(ctx, d.file.name, probeData(4), nil); err != nil {
		return failed(err)
	}
	if !d.reported(ctx, events) {
		return outcome{
			status: statusFail, detail: fmt.Sprintf("%s, and no event in %s for a file that was written", mode, d.timeout),
			remedy: "Do not rely on a watch here: list the directory again instead. A folder that another computer shares may report nothing.",
		}
	}
	return healthy(fmt.Sprintf("%s, an event after %d ms", mode, time.Since(begun).Milliseconds()))
}

// reported waits for the event of the write until ctx ends.
func (d *diagnosis) reported(ctx context.Context, events <-chan workspace.Event) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case event, open := <-events:
			if !open {
				return false
			}
			if event.Path == d.file.name && (event.Op == workspace.EventWrite || event.Op == workspace.EventCreate) {
				return true
			}
		}
	}
}

// command runs the shell, which the tools start for each command, in the sandbox if there is one.
// It does nothing, so nobody is asked.
func (d *diagnosis) command(ctx context.Context) outcome {
	ctx = policy.WithApprover(ctx, policy.NewApprover(func(context.Context, policy.Request) (policy.Answer, error) {
		return policy.Answer{Allow: true}, nil
	}, nil))
	result, err := d.ws.Run(ctx, &workspace.RunOptions{Command: []string{"sh", "-c", "true"}})
	switch {
	case err != nil:
		return failed(err)
	case result.ExitCode != 0:
		return outcome{
			status: statusFail, detail: fmt.Sprintf("sh -c true ended with the exit code %d", result.ExitCode),
			remedy: "Correct that where the commands run, and try again.",
		}
	}
	return healthy("sh runs")
}

// Bounds of the probe of the size.
const (
	maxCounted = 100_000 // files
	maxEntries = 2 * maxCounted
	countTime  = 10 * time.Second
)

// tally is what has been counted of a tree.
type tally struct {
	files, others, unlisted int
	bytes                   int64
	more                    bool // there is more than that
}

// size counts the files and their bytes.
func (d *diagnosis) size(ctx context.Context) outcome {
	counting, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	var t tally
	err := d.ws.Walk(counting, ".", nil, t.add)
	if errors.Is(err, context.DeadlineExceeded) && t.files > 0 {
		t.more, err = true, nil
	}
	switch {
	case err != nil:
		return failed(err)
	case t.unlisted > 0:
		return outcome{
			status: statusWarn, detail: fmt.Sprintf("%s; %s cannot be listed", t, wording.Count(t.unlisted, "directory", "directories")),
			remedy: "Give this user the right to read all directories, or leave out those with allowedPaths.",
		}
	}
	return healthy(t.String())
}

// add counts one entry of a walk.
func (t *tally) add(info workspace.FileInfo, err error) error {
	switch {
	case err != nil:
		t.unlisted++
	case IsProbeFile(info.Name):
	case t.files >= maxCounted, t.files+t.others >= maxEntries:
		t.more = true
		return fs.SkipAll
	case info.Type == workspace.TypeFile:
		t.files++
		t.bytes += info.Size
	default:
		t.others++
	}
	return nil
}

// String returns the count for a person.
func (t tally) String() string {
	text := wording.Count(t.files, "file", "files") + ", " + wording.Bytes(t.bytes)
	if t.more {
		return "more than " + text
	}
	return text
}

// version asks what the workspace runs on. Nothing depends on the reply.
func (d *diagnosis) version(ctx context.Context) outcome {
	about, err := d.ws.About(ctx)
	switch {
	case err != nil:
		return outcome{status: statusWarn, err: err}
	case about == "":
		return skipped("not known")
	}
	d.found.About = withoutEnvironment(about, d.config)
	return healthy(d.found.About)
}
