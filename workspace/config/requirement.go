package config

import (
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// requirement is a capability that a workspace can require.
type requirement struct {
	name string
	met  func(workspace.Capabilities) bool
}

// requirements lists the capabilities by the names that they have in JSON.
func requirements() []requirement {
	return []requirement{
		{"write", func(c workspace.Capabilities) bool { return c.Write }},
		{"versions", func(c workspace.Capabilities) bool { return c.Versions }},
		{"conditionalWrite", func(c workspace.Capabilities) bool { return c.ConditionalWrite }},
		{"watch", func(c workspace.Capabilities) bool { return c.Watch != workspace.WatchNone }},
		{"move", func(c workspace.Capabilities) bool { return c.Move }},
		{"copy", func(c workspace.Capabilities) bool { return c.Copy }},
	}
}

func requirementNames() []string {
	var names []string
	for _, r := range requirements() {
		names = append(names, r.name)
	}
	return names
}

// checkRequires adds the items of n that are no capabilities.
func checkRequires(p *problems, n *node) {
	if n == nil {
		return
	}
	for _, item := range n.items {
		if item.kind == textNode && !slices.Contains(requirementNames(), item.text) {
			p.add(item.at, "there is no capability %q: %s", short(item.raw), suggest(item.raw, requirementNames()))
		}
	}
}

// lacking returns which of names c lacks, separated by commas.
func lacking(c workspace.Capabilities, names []string) string {
	var missing []string
	for _, r := range requirements() {
		if slices.Contains(names, r.name) && !r.met(c) {
			missing = append(missing, r.name)
		}
	}
	return strings.Join(missing, ", ")
}
