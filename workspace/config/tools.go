package config

import (
	"slices"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
)

// Tools is the settings of the tools that a model is given. They are for the
// caller of [Load] to hand on.
type Tools struct {
	// Naming is the template of the tools' names. Empty means the default one.
	Naming string `json:"naming,omitempty" jsonschema:"The template of the names of tools, in which {name} stands for that of the workspace and {op} for the operation."`
	// Disable lists operations that get no tool.
	Disable []string `json:"disable,omitempty" jsonschema:"The operations that get no tool."`
	// Timeout is how long one call of a tool may take. Zero means two minutes.
	Timeout time.Duration `json:"timeout,omitempty" jsonschema:"The time that one call of a tool may take. 2m if it is left out."`
	// Shared says whether the workspaces share one set of tools, whose calls
	// name the workspace. Empty means SharedAuto.
	Shared Sharing `json:"shared,omitempty" jsonschema:"Whether the workspaces share one set of tools, whose calls name the workspace: true, false, or auto, which is the default and shares if there would be more than maxTools tools."`
	// MaxTools is the most tools of workspaces that share none because of
	// SharedAuto. Zero means 100.
	MaxTools int `json:"maxTools,omitempty" jsonschema:"The most tools of all workspaces together before they share one set. 100 if it is left out."`
}

// Sharing says whether workspaces share their tools.
type Sharing string

// The values of Sharing.
const (
	SharedAuto  Sharing = "auto" // if there would be more tools than Tools.MaxTools
	SharedTrue  Sharing = "true"
	SharedFalse Sharing = "false"
)

// toolOps returns the operations that have tools.
func toolOps() []string {
	return []string{
		ops.ReadFile, ops.WriteFile, ops.EditFile, ops.Ls, ops.Glob, ops.Grep,
		ops.Stat, ops.Mkdir, ops.Rm, ops.Move, ops.Copy,
	}
}

// check adds what is wrong with the settings that n has, beside their types,
// for a file with so many workspaces.
func (t Tools) check(p *problems, n *node, workspaces int) {
	if naming := n.lookup("naming"); naming != nil && naming.kind == textNode {
		if wrong := namingFault(naming.text, workspaces, t.Shared); wrong != "" {
			p.add(naming.at, "%s", wrong)
		}
	}
	if timeout := n.lookup("timeout"); timeout != nil {
		if duration, err := time.ParseDuration(timeout.text); err == nil && duration <= 0 {
			p.add(timeout.at, "timeout must be longer than nothing: leave it out for 2m")
		}
	}
	if most := n.lookup("maxTools"); most != nil && most.integer() && t.MaxTools < 1 {
		p.add(most.at, "maxTools must be at least 1: to share always, write shared: true")
	}
	disable := n.lookup("disable")
	if disable == nil {
		return
	}
	for _, item := range disable.items {
		if item.kind == textNode && !slices.Contains(toolOps(), item.text) {
			p.add(item.at, "there is no tool %q: %s", short(item.raw), suggest(item.raw, toolOps()))
		}
	}
}

// namingFault returns what is wrong with a naming, "" for nothing.
func namingFault(naming string, workspaces int, shared Sharing) string {
	rest := strings.NewReplacer("{name}", "", "{op}", "").Replace(naming)
	switch {
	case strings.IndexFunc(rest, func(r rune) bool { return !nameRune(r) }) >= 0:
		return `naming may have letters, digits, "_", "-", {name} and {op} only`
	case !strings.Contains(naming, "{op}"):
		return "naming needs {op}, or all tools have one name"
	case workspaces > 1 && shared != SharedTrue && !strings.Contains(naming, "{name}"):
		return "naming needs {name}, as there is more than one workspace; or write shared: true"
	}
	return ""
}
