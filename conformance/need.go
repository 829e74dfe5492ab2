package conformance

import (
	"errors"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// need is a set of things without which a case cannot run.
type need uint

const (
	// needFiles is a way to prepare files: the file system's own writes or
	// those of a peer.
	needFiles need = 1 << iota
	needWrite
	needVersions
	needConditional
	needWatch
	needMove
	needCopy
	needSymlink
	needRefusal // names are refused, not cleaned
	needCleaning
	needOpener
	needCreator
	needExact
	needHider
	needTime // too long for -short and Options.Short
)

// lacking says which of n the file system of e has not, "" if it has all.
func (n need) lacking(e *env) string {
	var lacks []string
	for _, f := range features() {
		if n&f.need != 0 && !f.has(e) {
			lacks = append(lacks, f.name)
		}
	}
	return strings.Join(lacks, " and ")
}

type feature struct {
	need need
	name string
	has  func(e *env) bool
}

// features lists the needs of cases, each with a way to ask whether a file
// system has it.
func features() []feature {
	return []feature{
		{needFiles, "Capabilities.Write or Options.Peer", func(e *env) bool { return e.caps.Write || e.opts.Peer != nil }},
		{needWrite, "Capabilities.Write", func(e *env) bool { return e.caps.Write }},
		{needVersions, "Capabilities.Versions", func(e *env) bool { return e.caps.Versions }},
		{needConditional, "Capabilities.ConditionalWrite", func(e *env) bool { return e.caps.ConditionalWrite }},
		{needWatch, "Capabilities.Watch", func(e *env) bool { return e.caps.Watch != workspace.WatchNone }},
		{needMove, "Capabilities.Move", func(e *env) bool { return e.caps.Move }},
		{needCopy, "Capabilities.Copy", func(e *env) bool { return e.caps.Copy }},
		{needSymlink, "Options.Symlink", func(e *env) bool { return e.opts.Symlink != nil }},
		{needRefusal, "Options.CleanNames to be false", func(e *env) bool { return !e.opts.CleanNames }},
		{needCleaning, "Options.CleanNames", func(e *env) bool { return e.opts.CleanNames }},
		{needOpener, "an Opener", func(e *env) bool { _, ok := workspace.As[workspace.Opener](e.fsys); return ok }},
		{needCreator, "a Creator", func(e *env) bool { _, ok := workspace.As[workspace.Creator](e.fsys); return ok }},
		{needExact, "an exact view", func(e *env) bool { _, err := workspace.Exact(e.fsys); return err == nil }},
		{needHider, "a Hider", hasHider},
		{needTime, "time, and -short or Options.Short is set", func(e *env) bool { return !e.short }},
	}
}

// hasHider reports whether the file system has a Hider that can hide names: a wrapper
// says only then whether what it wraps can.
func hasHider(e *env) bool {
	hider, ok := workspace.As[fallback.Hider](e.fsys)
	if !ok {
		return false
	}
	_, err := hider.Hide(hiddenIn)
	return !errors.Is(err, errors.ErrUnsupported)
}
