package tools

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
)

// Sharing says whether several workspaces share one set of tools, in which each
// tool has a parameter that names the workspace.
type Sharing string

// The values of Sharing. The empty one is SharedAuto.
const (
	// SharedAuto shares if several workspaces would have more than Options.MaxTools
	// tools, or, without Options.Naming, if the names of their dialect have no {name}.
	SharedAuto Sharing = "auto"
	// SharedTrue always shares, also for one workspace.
	SharedTrue Sharing = "true"
	// SharedFalse gives each workspace its own tools.
	SharedFalse Sharing = "false"
)

// workspaceParameter is the parameter of a shared tool that names the workspace.
const workspaceParameter = "workspace"

// NewAll returns the tools of several workspaces: those that New makes for each,
// or, as opts.Shared says, one set for all of them. The tools of such a set have
// the parameter "workspace", which lists the workspaces that have the tool, and
// do for each what its own tool would. The names have no {name}, and no "_" or
// "-" after it. Nil opts mean the zero Options.
//
// # Errors
//
// Those of [New] and [Merge], no workspaces, two of one name that share tools, and an
// unknown value of opts.Shared.
func NewAll(workspaces []*workspace.Workspace, opts *Options) (*Set, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	set, err := newAll(workspaces, o)
	if err != nil {
		return nil, fmt.Errorf("tools: %w", err)
	}
	return set, nil
}

// newAll is [NewAll] without the prefix of errors.
//
// Each workspace gets a toolset and a set of its own first. Shared tools are then a layer
// over these sets: such a tool takes the name of the workspace out of the arguments and calls
// the tool of that workspace. The toolsets have one cache and one default session. Cursors of
// one workspace are refused by another, because the scope is part of their check.
func newAll(workspaces []*workspace.Workspace, o Options) (*Set, error) {
	if len(workspaces) == 0 || slices.Contains(workspaces, nil) {
		return nil, errors.New("no workspace")
	}
	d, err := dialectOf(o.Dialect)
	if err == nil {
		err = o.check()
	}
	if err != nil {
		return nil, err
	}
	if o.Run {
		d = d.withCommands()
	}
	share, err := o.shares(d, workspaces)
	if err != nil {
		return nil, err
	}
	naming := o.Naming
	if share {
		naming = sharedNaming(cmp.Or(naming, d.naming))
	}
	cache, own := newReadCache(o.ReadCache), NewSession()
	var sets []*Set
	var toolsets []*toolset
	for _, ws := range workspaces {
		ts := newToolset(ws, d, cache, o, own)
		toolsets = append(toolsets, ts)
		if share {
			ts.scope, ts.note = ws.Name(), o.About[ws.Name()]
		}
		set, err := newSet(ts, naming, o.Disable)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	all := merge(sets)
	if share {
		if all, err = shared(d, workspaces, sets); err != nil {
			return nil, err
		}
	}
	if err := all.addBash(toolsets, cmp.Or(naming, d.naming), o); err != nil {
		return nil, err
	}
	return all, all.collision()
}

// shares reports whether the workspaces share their tools: by themselves also where the names
// that the dialect gives them are the same for all. The tool bash, which is one for all of
// them, does not count. One workspace shares its tools only with SharedTrue.
func (o Options) shares(d *dialect, workspaces []*workspace.Workspace) (bool, error) {
	most := cmp.Or(o.MaxTools, DefaultMaxTools)
	switch o.Shared {
	case SharedTrue:
		return true, nil
	case SharedFalse:
		return false, nil
	case SharedAuto, "":
	default:
		return false, fmt.Errorf("unknown sharing %q: it is %s, %s or %s", o.Shared, SharedTrue, SharedFalse, SharedAuto)
	}
	total := 0
	for _, ws := range workspaces {
		chosen, err := d.choose(ws, o.Disable)
		if err != nil {
			return false, err
		}
		total += len(chosen)
	}
	alike := o.Naming == "" && !strings.Contains(d.naming, "{name}")
	return (total > most || alike) && len(workspaces) > 1, nil
}

// sharedNaming returns naming without {name}, and without what separates that
// from the rest.
//
// For example:
//
//	workspace__{name}__{op}    workspace__{op}
//	{name}-{op}                {op}
//	{op}_{name}                {op}
func sharedNaming(naming string) string {
	for {
		before, after, found := strings.Cut(naming, "{name}")
		if !found {
			return naming
		}
		if rest := strings.TrimLeft(after, "_-"); rest != "" {
			after = rest
		} else {
			before, after = strings.TrimRight(before, "_-"), ""
		}
		naming = before + after
	}
}

// shared returns the set in which the tools of each operation in sets, one for each
// workspace, are one tool. Names of workspaces must differ in more than the case of letters.
//
// A dialect can have two specs of one operation, for workspaces that can be written to and
// for others. The first that some workspace can do describes the tool, and members can have
// either.
func shared(d *dialect, workspaces []*workspace.Workspace, sets []*Set) (*Set, error) {
	for i, ws := range workspaces {
		if slices.ContainsFunc(workspaces[:i], func(other *workspace.Workspace) bool { return strings.EqualFold(other.Name(), ws.Name()) }) {
			return nil, fmt.Errorf("two workspaces have the name %q: rename one", ws.Name())
		}
	}
	all := &Set{shared: true}
	done := map[string]bool{}
	for _, s := range d.specs {
		if done[s.op] || !slices.ContainsFunc(workspaces, s.possible) {
			continue // another spec is for what these workspaces can do
		}
		done[s.op] = true
		var members []*Tool
		for _, set := range sets {
			if t, ok := set.Lookup(s.op); ok {
				members = append(members, t)
			}
		}
		if len(members) == 0 {
			continue
		}
		all.tools = append(all.tools, share(s, members, workspaces))
	}
	return all, all.collision()
}

// share makes one tool of those that the members are for their workspaces. A workspace
// without the tool is not in the list of the parameter; a call that names it is told why.
func share(s spec, members []*Tool, workspaces []*workspace.Workspace) *Tool {
	ts := frontToolset(members)
	tool := newTool(ts, s, members[0].Name, func() *jsonschema.Schema {
		in := ts.inputSchema(s)
		addWorkspace(in, ts, members)
		return in
	})
	tool.members, tool.without = members, map[string]string{}
	for _, ws := range workspaces {
		switch {
		case slices.ContainsFunc(members, func(m *Tool) bool { return m.toolset.ws == ws }):
		case !ws.Capabilities().Write:
			tool.without[ws.Name()] = "it is read-only"
		default:
			tool.without[ws.Name()] = "its store cannot do this"
		}
	}
	return tool
}

// frontToolset returns the toolset that describes a shared tool. It has what any of the
// members has, and the greatest limit. It describes and explains only: every call runs in the
// toolset of a member, which knows what its workspace can do.
func frontToolset(members []*Tool) *toolset {
	first := members[0].toolset
	front := *first
	front.names = map[string]string{}
	for _, m := range members {
		for op, name := range m.toolset.names {
			front.names[op] = name
		}
		caps := m.toolset.caps
		front.caps.Write = front.caps.Write || caps.Write
		front.caps.Versions = front.caps.Versions || caps.Versions
		front.caps.ConditionalWrite = front.caps.ConditionalWrite || caps.ConditionalWrite
		front.caps.Move = front.caps.Move || caps.Move
		front.caps.Copy = front.caps.Copy || caps.Copy
		front.unlikeSizes = front.unlikeSizes || m.toolset.ws.MaxFileSize() != first.ws.MaxFileSize()
		if m.toolset.whole.MaxFileSize() > front.whole.MaxFileSize() { // which has a limit
			front.whole = m.toolset.whole
		}
	}
	return &front
}

// addWorkspace adds the parameter that names the workspace. It comes first, and is required
// even if there is only one workspace.
func addWorkspace(s *jsonschema.Schema, ts *toolset, members []*Tool) {
	property := &jsonschema.Schema{Type: "string"}
	var about []string
	for _, m := range members {
		property.Enum = append(property.Enum, m.toolset.ws.Name())
		about = append(about, m.toolset.about(ts, m.does))
	}
	property.Description = "the workspace to work in: " + strings.Join(about, "; ")
	s.Properties[workspaceParameter] = property
	s.Required = append([]string{workspaceParameter}, s.Required...)
	s.PropertyOrder = append([]string{workspaceParameter}, s.PropertyOrder...)
}

// about returns the name of the workspace, and what a model has to know of it
// to choose it, and that front does not say about all.
func (ts *toolset) about(front *toolset, op string) string {
	var notes []string
	if ts.note != "" {
		notes = append(notes, ts.note)
	}
	if !ts.caps.Write {
		notes = append(notes, "read-only")
	}
	if op == ops.WriteFile && !front.dialect.plain && front.caps.ConditionalWrite && !ts.caps.ConditionalWrite {
		notes = append(notes, "without createOnly, ifVersion and append")
	}
	if front.unlikeSizes {
		if size := byteSize(ts.ws.MaxFileSize()); size != "" {
			notes = append(notes, "files of at most "+size)
		} else {
			notes = append(notes, "files of any size")
		}
	}
	if len(notes) == 0 {
		return ts.ws.Name()
	}
	return ts.ws.Name() + " (" + strings.Join(notes, ", ") + ")"
}

// takeWorkspace returns the tool of the workspace that args name, and the other
// arguments, which that tool checks.
//
// The others keep their order, and their values every byte:
//
//	{"workspace": "docs", "path": "a.md", "line": 5}    docs, {"path":"a.md","line":5}
//
// Members that are given twice, or that no tool has, stay for the check of the member. Only
// what must be known to find the workspace is checked here. Arguments that are a text stay
// one, which the member reads and notes.
func (t *Tool) takeWorkspace(args json.RawMessage) (*Tool, json.RawMessage, error) {
	args = orEmptyObject(args)
	if err := checkJSON(args); err != nil {
		return nil, nil, err
	}
	text := kindOf(args) == "string"
	if text && !t.toolset.strict {
		args = new(reader).kind(t.input(), "", args)
	}
	if kindOf(args) != "object" {
		return nil, nil, wrongType(t.input(), "", args)
	}
	given, err := membersOf(args)
	if err != nil {
		return nil, nil, err
	}
	var name json.RawMessage
	rest := bytes.NewBufferString("{")
	for _, m := range given {
		if m.name == workspaceParameter {
			if name != nil {
				return nil, nil, &argumentError{message: `parameter "workspace" is given twice`, hint: "Give it once."}
			}
			name = m.value
			continue
		}
		if rest.Len() > 1 {
			rest.WriteByte(',')
		}
		key, _ := json.Marshal(m.name) // a string that was decoded from JSON
		rest.Write(key)
		rest.WriteByte(':')
		rest.Write(m.value)
	}
	rest.WriteByte('}')
	member, err := t.member(name)
	if text {
		quoted, _ := json.Marshal(rest.String()) // of valid JSON
		return member, quoted, err
	}
	return member, rest.Bytes(), err
}

// member returns the tool of the workspace with a name in JSON. A raw of nothing, which
// stands for a parameter that was left out, is the same as null. The name must be exact, also
// in a set that is not strict.
//
// # Errors
//
// An [*argumentError] that lists the workspaces: one that is near in spelling is suggested,
// and one without the tool is told apart from one that does not exist.
func (t *Tool) member(raw json.RawMessage) (*Tool, error) {
	var name string
	switch {
	case kindOf(raw) == "null":
		return nil, &argumentError{message: `missing required parameter "workspace" (string)`, hint: t.choices()}
	case kindOf(raw) != "string" || json.Unmarshal(raw, &name) != nil:
		return nil, wrongType(t.input().Properties[workspaceParameter], workspaceParameter, raw)
	}
	names := make([]string, len(t.members))
	for i, m := range t.members {
		if names[i] = m.toolset.ws.Name(); names[i] == name {
			return m, nil
		}
	}
	hint := t.choices()
	if why := t.without[name]; why != "" {
		return nil, &argumentError{message: fmt.Sprintf("workspace %q has no %s: %s", name, t.Op, why), hint: hint}
	}
	if near := wording.Closest(name, names); near != "" {
		hint = fmt.Sprintf("Did you mean %q? %s", near, hint)
	}
	return nil, &argumentError{message: fmt.Sprintf("there is no workspace %q", clip(name, 100)), hint: hint}
}

// choices says which workspaces have the tool.
func (t *Tool) choices() string {
	names := make([]string, len(t.members))
	for i, m := range t.members {
		names[i] = fmt.Sprintf("%q", m.toolset.ws.Name())
	}
	return fmt.Sprintf("The workspaces that %s works in are %s.", t.Name, strings.Join(names, ", "))
}
