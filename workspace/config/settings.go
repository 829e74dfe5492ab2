package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/backup"
	"github.com/workspacekit/workspacekit/workspace/config/internal/document"
	"github.com/workspacekit/workspacekit/workspace/policy"
	"github.com/workspacekit/workspacekit/workspace/transaction"
)

// FS has the settings of a workspace that hold for every provider and every
// consumer, whatever it uses the workspace for.
type FS struct {
	// MaxFileSizeMb is the largest file that is written, edited or copied, and that tools
	// other than bash read or search, in MiB. Zero means that of [workspace.DefaultMaxFileSize].
	MaxFileSizeMb int64 `json:"maxFileSizeMb,omitempty" jsonschema:"The largest file that can be written, edited or copied, and that tools other than bash read or search, in MiB. Default: 10."`
	// ReadOnly lets nothing be changed.
	ReadOnly bool `json:"readOnly,omitempty" jsonschema:"Refuses every change, and leaves out the tools that change something."`
	// ReadBeforeWrite lets a tool change a file only if the same session has read
	// or written it, and nobody has changed it since: see package tools. It does not
	// concern programs that use the workspace itself.
	ReadBeforeWrite bool `json:"readBeforeWrite,omitempty" jsonschema:"The tools change a file only if it was read or written in the same session, and nobody has changed it since. Symlinks and whole directories are moved and removed without that."`
	// AllowedPaths are the names that may be used, as in [policy.Rules]. Empty
	// means all.
	AllowedPaths []string `json:"allowedPaths,omitempty" jsonschema:"Globs of the names that may be used, from the root of the workspace. All others are refused and hidden. Default: all names."`
	// DeniedPaths are names that may not be used although AllowedPaths allow
	// them, as in [policy.Rules].
	DeniedPaths []string `json:"deniedPaths,omitempty" jsonschema:"Globs of names that are refused and hidden, with all below them. A pattern without a slash matches in every directory. Letters match in either case."`
	// ReadOnlyPaths are names that can be read and not changed, as in
	// [policy.Rules].
	ReadOnlyPaths []string `json:"readOnlyPaths,omitempty" jsonschema:"Globs, as in deniedPaths, of names that can be read but not changed."`
	// Rules are rules for single operations, as [policy.Rules].FirstMatch: the
	// first that matches decides.
	Rules []policy.Rule `json:"rules,omitempty" jsonschema:"Rules for single operations. The first that lists the operation and matches the name decides, and allows nothing that another setting refuses. What none matches is allowed, except run."`
	// AllowedExtensions and DeniedExtensions are as in [policy.Rules].
	AllowedExtensions []string `json:"allowedExtensions,omitempty" jsonschema:"The extensions that files may have, such as .go. Others are refused and hidden. Letters match in either case."`
	DeniedExtensions  []string `json:"deniedExtensions,omitempty" jsonschema:"Extensions of names that are refused and hidden. Letters match in either case."`
	// Denied says whether everything that lists names shows denied ones: see
	// [policy.Rules].ShowDenied. Empty means DeniedHide.
	Denied Visibility `json:"denied,omitempty" jsonschema:"Whether listings show denied names, which are refused either way: hide or show. Default: hide."`
	// Mode says whether the rules, paths and extensions are enforced. Empty means
	// ModeEnforce.
	Mode Mode `json:"mode,omitempty" jsonschema:"With audit, rules, paths, extensions and sensitive refuse and hide nothing: the audit log marks what they would refuse. Default: enforce."`
	// Sensitive says what happens to the names that secrets have, and to changes
	// below ".git": see [policy.Rules].DenySensitive. Empty means AccessDeny, and AccessAllow in a
	// relaxed folder, as symlinks that lead out of it could not be used then.
	Sensitive Access `json:"sensitive,omitempty" jsonschema:"Whether names of secrets, such as .env and *.pem, may be used, and .git changed: deny or allow. Default: deny; in a relaxed folder allow."`
	// Quota is how much each session may write. Nil means no limit.
	Quota *Quota `json:"quota,omitempty" jsonschema:"How much each session, one run of an agent, may write. Default: no limit."`
}

// Quota is how much each session may write, counted from when the workspace is opened:
// see package quota.
type Quota struct {
	// Files is how many different files, see [quota.Limits]. Zero means no limit.
	Files int `json:"files,omitempty" jsonschema:"How many different files a session may write or move."`
	// Mb is how many MiB. Zero means no limit.
	Mb int64 `json:"mb,omitempty" jsonschema:"How many MiB a session may write."`
}

// check adds what is wrong with the settings that n has, beside their types.
func (q *Quota) check(p *diagnostics, n *document.Node) {
	files, size := n.Lookup("files"), n.Lookup("mb")
	if files == nil && size == nil {
		p.Add(n.At, "quota has no limit: write files or mb, or leave it out")
	}
	if files != nil && files.IsInteger() && q.Files < 1 {
		p.Add(files.At, "files must be at least 1: to let nothing be changed, write readOnly: true")
	}
	if size != nil && size.IsInteger() && (q.Mb < 1 || q.Mb > maxMb) {
		p.Add(size.At, "mb must be between 1 and %d, in MiB: to let nothing be changed, write readOnly: true", int64(maxMb))
	}
}

// Mode says whether the rules are enforced.
type Mode string

// The values of Mode.
const (
	ModeEnforce Mode = "enforce" // it is refused
	ModeAudit   Mode = "audit"   // it takes place, and the audit log says that it would be refused
)

// Visibility says whether names are shown.
type Visibility string

// The values of Visibility.
const (
	DeniedHide Visibility = "hide"
	DeniedShow Visibility = "show"
)

// Access says whether something is refused or allowed.
type Access string

// The values of Access.
const (
	AccessDeny  Access = "deny"
	AccessAllow Access = "allow"
)

// clone returns a copy that shares nothing with s.
func (s FS) clone() FS {
	s.AllowedPaths, s.DeniedPaths = slices.Clone(s.AllowedPaths), slices.Clone(s.DeniedPaths)
	if s.Quota != nil {
		limits := *s.Quota
		s.Quota = &limits
	}
	s.ReadOnlyPaths, s.Rules = slices.Clone(s.ReadOnlyPaths), slices.Clone(s.Rules)
	s.AllowedExtensions, s.DeniedExtensions = slices.Clone(s.AllowedExtensions), slices.Clone(s.DeniedExtensions)
	for i, r := range s.Rules {
		r.Allow, r.Deny, r.Ask, r.Paths = slices.Clone(r.Allow), slices.Clone(r.Deny), slices.Clone(r.Ask), slices.Clone(r.Paths)
		s.Rules[i] = r
	}
	return s
}

// maxFileSizeMb is the greatest limit that is a number of bytes.
const maxFileSizeMb = math.MaxInt64 >> 20

// check adds what is wrong with the settings that n has, beside their types.
func (s FS) check(p *diagnostics, n *document.Node) {
	if size := n.Lookup("maxFileSizeMb"); size != nil && size.IsInteger() && (s.MaxFileSizeMb < 1 || s.MaxFileSizeMb > maxFileSizeMb) {
		p.Add(size.At, "maxFileSizeMb must be between 1 and %d, in MiB: leave it out for the default of %d",
			int64(maxFileSizeMb), workspace.DefaultMaxFileSize>>20)
	}
	checkPaths(p, n.Lookup("allowedPaths"), "allowedPaths is empty, which would allow nothing: name what may be used, or leave it out", policy.CheckAllowedPath)
	checkPaths(p, n.Lookup("deniedPaths"), "deniedPaths is empty: leave it out", policy.CheckDeniedPath)
	checkPaths(p, n.Lookup("readOnlyPaths"), "readOnlyPaths is empty: leave it out", policy.CheckDeniedPath)
	checkPaths(p, n.Lookup("allowedExtensions"), "allowedExtensions is empty, which would allow no file: leave it out", policy.CheckExtension)
	checkPaths(p, n.Lookup("deniedExtensions"), "deniedExtensions is empty: leave it out", policy.CheckExtension)
	checkRules(p, n.Lookup("rules"))
	if limits := n.Lookup("quota"); limits != nil && limits.Kind == document.Map && s.Quota != nil {
		s.Quota.check(p, limits)
	}
}

// PolicyTest is an operation on a name, and what the settings should say about it.
type PolicyTest struct {
	// Op is the operation.
	Op policy.Op `json:"op" jsonschema:"The operation: read, write, edit, delete, move, copy, list, mkdir or run."`
	// Path is the name.
	Path string `json:"path" jsonschema:"The name, from the root of the workspace."`
	// Want is what is expected.
	Want policy.Effect `json:"want" jsonschema:"The expected decision: allow, deny or ask."`
}

// effects are the keys of a rule that say what it does.
var effects = []string{string(policy.Allow), string(policy.Deny), string(policy.Ask)}

// checkRules adds what is wrong with the rules for single operations, which may be
// nil.
func checkRules(p *diagnostics, rules *document.Node) {
	if rules == nil || rules.Kind != document.List {
		return
	}
	if len(rules.Items) == 0 {
		p.Add(rules.At, "rules is empty: leave it out")
	}
	for _, rule := range rules.Items {
		if rule.Kind != document.Map {
			continue
		}
		checkPaths(p, rule.Lookup("paths"), `paths is empty: "**" is all of them`, policy.CheckDeniedPath)
		given := 0
		for _, effect := range effects {
			if ops := rule.Lookup(effect); ops != nil {
				checkOps(p, effect, ops)
				given++
			}
		}
		switch {
		case given == 0:
			p.Add(rule.At, "a rule needs one of the keys allow, deny and ask")
		case given > 1:
			p.Add(rule.At, "a rule has one of the keys allow, deny and ask: make two rules of it")
		}
	}
}

// checkOps adds what is wrong with the operations of a rule.
func checkOps(p *diagnostics, effect string, ops *document.Node) {
	if ops.Kind == document.List && len(ops.Items) == 0 {
		p.Add(ops.At, "%s is empty: name an operation", effect)
	}
	for _, item := range ops.Items {
		if item.Kind == document.Text {
			checkOp(p, item)
		}
	}
}

// checkOp adds that n is not an operation, unless it is one.
func checkOp(p *diagnostics, n *document.Node) {
	if !slices.Contains(policy.Ops(), policy.Op(n.Text)) {
		p.Add(n.At, "there is no operation %q: %s", document.Short(n.Raw), wording.Suggest(n.Raw, opNames()))
	}
}

// opNames returns the operations of rules.
func opNames() []string {
	var names []string
	for _, op := range policy.Ops() {
		names = append(names, string(op))
	}
	return names
}

// checkPaths adds what is wrong with a list of patterns, which may be nil.
func checkPaths(p *diagnostics, paths *document.Node, empty string, check func(pattern string) error) {
	if paths == nil || paths.Kind != document.List {
		return
	}
	if len(paths.Items) == 0 {
		p.Add(paths.At, "%s", empty)
	}
	for _, item := range paths.Items {
		if item.Kind != document.Text {
			continue
		}
		err := check(item.Text)
		if !item.Coded {
			err = cmp.Or(ops.CheckWritten(item.Text), err)
		}
		if err != nil {
			p.Add(item.At, "%q cannot be used: %s", document.Short(item.Raw), document.Redact(cause(err), item.Used))
		}
	}
}

// cause returns what an error says beside the operation and the name.
func cause(err error) string {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err.Error()
	}
	return err.Error()
}

// checkAlone returns what is wrong with settings that came from no file.
func (s FS) checkAlone() error {
	if s.MaxFileSizeMb < 0 || s.MaxFileSizeMb > maxFileSizeMb {
		return errors.New("maxFileSizeMb is out of bounds")
	}
	if s.Quota != nil && (s.Quota.Files < 0 || s.Quota.Mb < 0 || s.Quota.Mb > maxMb) {
		return errors.New("quota is out of bounds")
	}
	rules := s.Policy()
	rules.DenySensitive = false
	if rules.Empty() { // as in most runs of the command
		return nil
	}
	_, err := policy.Explain(rules, policy.OpRead, ".")
	return err
}

// Policy returns the rules that the settings make, ReadOnly, Mode and Quota aside. A
// relaxed folder has fewer: see Sensitive.
func (s FS) Policy() policy.Rules {
	return policy.Rules{
		AllowedPaths: s.AllowedPaths, DeniedPaths: s.DeniedPaths, ReadOnlyPaths: s.ReadOnlyPaths, FirstMatch: s.Rules,
		AllowedExtensions: s.AllowedExtensions, DeniedExtensions: s.DeniedExtensions,
		DenySensitive: s.Sensitive != AccessAllow, ShowDenied: s.Denied == DeniedShow,
	}
}

// settings returns the settings of the workspace d in the file.
func (c *Config) settings(d *description) *FS {
	if c.Tools.Run {
		return d.settings().askingToRun()
	}
	return d.settings()
}

// askingToRun returns s with a rule that asks before each command, unless s has rules or
// restricts paths: then commands need a rule of its own, as they are not bound by those. The
// place of the rule is the key that has it, as the file has no such rule.
func (s *FS) askingToRun() *FS {
	rules := s.Policy()
	rules.DenySensitive = false
	if !rules.Empty() {
		return s
	}
	asking := *s
	asking.Rules = []policy.Rule{{Ask: []policy.Op{policy.OpRun}, Paths: []string{"**"}, Place: "tools.run"}}
	return &asking
}

// Explain returns what the settings say about an operation on a name. With [ModeAudit], it is
// what they would say without it, and the reason says so.
//
// # Errors
//
// Those of [policy.Explain].
func (s FS) Explain(op policy.Op, name string) (policy.Decision, error) {
	d, err := policy.Explain(s.Policy(), op, name)
	switch {
	case err != nil, d.Effect == policy.Deny && s.Mode != ModeAudit:
	case s.ReadOnly && op != policy.OpRead && op != policy.OpList:
		d.Effect, d.Rule, d.Reason = policy.Deny, "readOnly", "the workspace is read-only"
	case s.Quota != nil && op == policy.OpRun:
		d.Effect, d.Rule, d.Reason = policy.Deny, "quota", "the workspace has a quota, and nobody counts what a command writes"
	case s.Mode == ModeAudit && d.Effect != policy.Allow:
		d.Reason += "; mode: audit allows and logs it"
	}
	return d, err
}

// Explained is what the settings of a workspace say about an operation on a name.
type Explained struct {
	// Workspace is the name of the workspace, and Path the name that is asked about.
	Workspace string `json:"workspace"`
	Path      string `json:"path"`
	policy.Decision
	// Place is where in the file the rule is that decides, such as
	// "workspace.yaml:7:9". It is empty if none does. In the result of a test it is
	// where the case is.
	Place string `json:"place,omitempty"`
	// Want is what the case of a test expects, empty in an explanation.
	Want policy.Effect `json:"want,omitempty"`
}

// Explain returns what the settings of a workspace say about an operation on a name,
// without opening the workspace, as [FS.Explain]. Symlinks, and the protection of backups and
// of the configuration, are not considered.
//
// # Errors
//
// Those of [policy.Explain], and a workspace that the file does not have.
func (c *Config) Explain(workspace string, op policy.Op, name string) (Explained, error) {
	chosen, err := c.choose([]string{workspace})
	if err != nil {
		return Explained{}, err
	}
	return chosen[0].explain(c, op, name)
}

// explain is [Config.Explain] for one workspace of a file.
func (d *description) explain(c *Config, op policy.Op, name string) (Explained, error) {
	settings := *c.settings(d)
	if settings.Sensitive == "" && d.relaxed() {
		settings.Sensitive = AccessAllow
	}
	decision, err := settings.Explain(op, name)
	if decision.Effect == policy.Ask && len(d.settings().Rules) == 0 && settings.Mode != ModeAudit { // the rule of askingToRun
		decision.Rule, decision.Reason = "", "commands ask by default"
	}
	e := Explained{Workspace: d.name, Path: name, Decision: decision}
	if n := d.node.Lookup("fs"); n != nil && decision.Rule != "" {
		if at := n.Find(decision.Rule); at != n.At {
			e.Place = fmt.Sprintf("%s:%d:%d", c.file, at.Line, at.Column)
		}
	}
	return e, err
}

// allowsRun reports whether the settings let a command run in some directory of d.
func (c *Config) allowsRun(d *description) bool {
	settings := c.settings(d)
	return settings.Quota == nil && (settings.Mode == ModeAudit ||
		slices.ContainsFunc(settings.Rules, func(r policy.Rule) bool {
			return slices.Contains(r.Allow, policy.OpRun) || slices.Contains(r.Ask, policy.OpRun)
		}))
}

// relaxed reports whether the provider is a relaxed folder, as its options spell
// it.
func (d *description) relaxed() bool {
	if d.kind == d.Provider { // a URL
		u, err := url.Parse(d.kind.Text)
		return err == nil && u.Query().Get("relaxed") == "true"
	}
	option := d.Provider.Lookup("relaxed")
	return option != nil && strings.EqualFold(option.Text, "true")
}

// TestPolicy tries the policyTests of all workspaces, and returns what their
// settings say, with what was expected.
//
// # Errors
//
// Those of [policy.Explain].
func (c *Config) TestPolicy() ([]Explained, error) {
	var all []Explained
	for _, d := range c.descriptions {
		for i, test := range d.PolicyTests {
			e, err := d.explain(c, test.Op, test.Path)
			if err != nil {
				return nil, err
			}
			at := d.node.Find(fmt.Sprintf("policyTests[%d]", i))
			e.Want, e.Place = test.Want, fmt.Sprintf("%s:%d:%d", c.file, at.Line, at.Column)
			all = append(all, e)
		}
	}
	return all, nil
}

// relaxer is a FileSystem whose symlinks may lead out of it. A policy cannot test
// where these lead, and refuses them. So names are sensitive there only if the
// settings say it.
type relaxer interface {
	// Relaxed reports whether symlinks may lead out.
	Relaxed() bool
}

// over returns fsys, a view of store, as the settings show it.
func (s FS) over(fsys, store workspace.FileSystem) (workspace.FileSystem, error) {
	rules := s.Policy()
	if folder, ok := store.(relaxer); ok && folder.Relaxed() && s.Sensitive == "" {
		rules.DenySensitive = false
	}
	if s.Mode == ModeAudit {
		rules.Report = reportDenial
	}
	if _, hides := s.transactions(store); hides {
		rules.JournalPaths = []string{backup.DefaultDir, transaction.DefaultDir}
	}
	if rules.Empty() && workspace.CapabilitiesOf(store).Run {
		// With any rule, commands need one of their own.
		rules.FirstMatch = []policy.Rule{{Allow: []policy.Op{policy.OpList}, Paths: []string{"**"}}}
	}
	if !rules.Empty() {
		restricted, err := policy.Restrict(fsys, rules)
		if err != nil {
			return nil, err
		}
		fsys = restricted
	}
	if s.ReadOnly {
		fsys = policy.ReadOnly(fsys)
	}
	return fsys, nil
}

// reportDenial notes in ctx which rule would have refused its operation.
func reportDenial(ctx context.Context, _ string, d policy.Decision) {
	if rule, ok := ctx.Value(denialKey{}).(*atomic.Pointer[string]); ok {
		rule.Store(&d.Rule)
	}
}

// transactions reports whether a workspace with the provider store undoes transactions
// below its policies, as otherwise package transaction works above them, and whether it hides
// journals, which other workspaces of the same files, or of a folder in it, can have: who could
// write to one could make an undo write anything, and it has the contents of files that may be
// denied.
func (s FS) transactions(store workspace.FileSystem) (undoes, hides bool) {
	folder, ok := store.(relaxer)
	relaxed := ok && folder.Relaxed()
	_, err := workspace.Exact(store)
	hides = s.Mode != ModeAudit && !relaxed && err == nil
	return hides && !s.ReadOnly && workspace.CapabilitiesOf(store).Write, hides
}

// Tools is the settings of the tools that a model is given. They are for the
// caller of [Load] to hand on.
type Tools struct {
	// Dialect chooses the names, parameters and results of the tools. Empty means
	// the default one, "workspace".
	Dialect Dialect `json:"dialect,omitempty" jsonschema:"The names, parameters and results of the tools: workspace, or a set that models or clients know. Default: workspace."`
	// Naming is the template of the tools' names. Empty means the template of the dialect.
	Naming string `json:"naming,omitempty" jsonschema:"The names of tools: {name} is the workspace, {op} the operation. Default: workspace__{name}__{op}, with most dialects {op}."`
	// Descriptions says how much a model is told about each tool. Empty means
	// DescriptionsFull.
	Descriptions Descriptions `json:"descriptions,omitempty" jsonschema:"The descriptions of tools: full, or compact, which costs fewer tokens. Default: full."`
	// Disable lists operations that get no tool.
	Disable []string `json:"disable,omitempty" jsonschema:"The operations that have no tool; with a dialect, names of its tools."`
	// Bash adds a tool that runs scripts of bash over the files of all workspaces:
	// see package shell.
	Bash bool `json:"bash,omitempty" jsonschema:"Adds a tool that runs bash scripts on the files of all workspaces. It starts no process."`
	// Run adds the tools that run commands in the workspaces that can. In a workspace
	// without rules and restricted paths, each command needs an approval. In others
	// commands are refused unless a rule names the operation run. With [ModeAudit],
	// neither is needed.
	Run bool `json:"run,omitempty" jsonschema:"Adds the tools run and processes, for commands. Each needs an approval; where fs has rules, paths or extensions, a rule for run; with mode: audit, neither."`
	// Strict refuses arguments that do not have the types and bounds of the
	// schema, even if their meaning is plain.
	Strict bool `json:"strict,omitempty" jsonschema:"Refuses arguments that do not fit the schema, such as \"5\" for 5."`
	// Timeout is how long one call of a tool may take. Zero means two minutes.
	Timeout time.Duration `json:"timeout,omitempty" jsonschema:"How long one call of a tool may take. Default: 2m."`
	// Shared says whether the workspaces share one set of tools, whose calls
	// name the workspace. Empty means SharedAuto.
	Shared Sharing `json:"shared,omitempty" jsonschema:"Whether the workspaces share one set of tools: true, false, or auto: above maxTools, or without naming if names of the dialect have no {name}. Default: auto."`
	// MaxTools is the most tools of workspaces that share none because of
	// SharedAuto. Zero means 100.
	MaxTools int `json:"maxTools,omitempty" jsonschema:"How many tools the workspaces may have before they share one set. Default: 100."`
}

// Dialect is a set of tools that package tools has.
type Dialect string

// dialects are the values of a Dialect, the default one first.
var dialects = []string{"workspace", "anthropic", "openai", "mcp-filesystem", "agentkit", "claude-code", "fs", "gemini", "helix"}

// Sharing says whether workspaces share their tools.
type Sharing string

// The values of Sharing.
const (
	SharedAuto  Sharing = "auto" // if there would be more tools than Tools.MaxTools, or without Tools.Naming if names of the dialect have no {name}
	SharedTrue  Sharing = "true"
	SharedFalse Sharing = "false"
)

// Descriptions says how much a model is told about the tools.
type Descriptions string

// The values of Descriptions.
const (
	DescriptionsFull    Descriptions = "full"
	DescriptionsCompact Descriptions = "compact"
)

// words are the types of settings with a fixed set of values.
var words = document.Words{
	reflect.TypeFor[Dialect]():      dialects,
	reflect.TypeFor[Sharing]():      {string(SharedTrue), string(SharedFalse), string(SharedAuto)},
	reflect.TypeFor[Descriptions](): {string(DescriptionsFull), string(DescriptionsCompact)},
	reflect.TypeFor[Mode]():         {string(ModeEnforce), string(ModeAudit)},
	reflect.TypeFor[Visibility]():   {string(DeniedHide), string(DeniedShow)},
	reflect.TypeFor[Access]():       {string(AccessDeny), string(AccessAllow)},

	reflect.TypeFor[policy.Effect](): effects,
}

// toolOps are the operations that have tools.
var toolOps = []string{
	ops.ReadFile, ops.ReadFiles, ops.WriteFile, ops.EditFile, ops.ApplyPatch, ops.Ls, ops.Tree, ops.Glob, ops.Grep,
	ops.Stat, ops.Mkdir, ops.Rm, ops.Move, ops.Copy, ops.Bash, ops.Run, ops.Processes,
}

// check adds what is wrong with the settings that n has, beside their types,
// for a file with so many workspaces.
func (t Tools) check(p *diagnostics, n *document.Node, workspaces int) {
	if naming := n.Lookup("naming"); naming != nil && naming.Kind == document.Text {
		if wrong := namingFault(naming.Text, workspaces, t.Shared); wrong != "" {
			p.Add(naming.At, "%s", wrong)
		}
	}
	if timeout := n.Lookup("timeout"); timeout != nil && timeout.Kind == document.Text {
		if duration, err := time.ParseDuration(timeout.Text); err == nil && duration <= 0 {
			p.Add(timeout.At, "timeout must be longer than nothing: leave it out for 2m")
		}
	}
	if most := n.Lookup("maxTools"); most != nil && most.IsInteger() && t.MaxTools < 1 {
		p.Add(most.At, "maxTools must be at least 1: to share always, write shared: true")
	}
	disable := n.Lookup("disable")
	if disable == nil || t.Dialect != "" && string(t.Dialect) != dialects[0] {
		return // package tools knows the operations of the other dialects
	}
	for _, item := range disable.Items {
		if item.Kind == document.Text && !slices.Contains(toolOps, item.Text) {
			p.Add(item.At, "there is no tool %q: %s", document.Short(item.Raw), wording.Suggest(item.Raw, toolOps))
		}
	}
}

// namingFault returns what is wrong with a naming, "" for nothing.
func namingFault(naming string, workspaces int, shared Sharing) string {
	rest := strings.NewReplacer("{name}", "", "{op}", "").Replace(naming)
	switch {
	case strings.IndexFunc(rest, func(r rune) bool { return !nameRune(r) }) >= 0:
		return `naming may have ASCII letters, digits, "_", "-", {name} and {op} only`
	case !strings.Contains(naming, "{op}"):
		return "naming needs {op}, or all tools have one name"
	case workspaces > 1 && shared != SharedTrue && !strings.Contains(naming, "{name}"):
		return "naming needs {name}, as there is more than one workspace; or write shared: true"
	}
	return ""
}

// runName is the requirement of commands.
const runName = "run"

// requirement is a capability that a workspace can require.
type requirement struct {
	name string
	met  func(workspace.Capabilities) bool
}

// requirements are the capabilities by the names that they have in JSON.
var requirements = []requirement{
	{"write", func(c workspace.Capabilities) bool { return c.Write }},
	{"versions", func(c workspace.Capabilities) bool { return c.Versions }},
	{"conditionalWrite", func(c workspace.Capabilities) bool { return c.ConditionalWrite }},
	{"watch", func(c workspace.Capabilities) bool { return c.Watch != workspace.WatchNone }},
	{"move", func(c workspace.Capabilities) bool { return c.Move }},
	{"copy", func(c workspace.Capabilities) bool { return c.Copy }},
	{runName, func(c workspace.Capabilities) bool { return c.Run }},
}

func requirementNames() []string {
	names := make([]string, len(requirements))
	for i, r := range requirements {
		names[i] = r.name
	}
	return names
}

// lacking returns which of names c lacks, separated by commas.
func lacking(c workspace.Capabilities, names []string) string {
	var missing []string
	for _, r := range requirements {
		if slices.Contains(names, r.name) && !r.met(c) {
			missing = append(missing, r.name)
		}
	}
	return strings.Join(missing, ", ")
}

// Backup says where what changes replace or remove is kept, and how much of it: see
// package backup.
type Backup struct {
	// Dir is the directory with the backups, which the workspace that they are in hides.
	// Empty means [backup.DefaultDir], and with Workspace a directory below it with the
	// name of this workspace.
	Dir string `json:"dir,omitempty" jsonschema:"The directory of the backups, which is hidden. Default: .workspacekit/backups, or with workspace .workspacekit/backups/NAME."`
	// Workspace is the name of another workspace of the file, where the backups are.
	// Its settings do not concern them. Empty means this workspace.
	Workspace string `json:"workspace,omitempty" jsonschema:"The name of another workspace, for backups that are not in this one."`
	// Keep is how many changes can be undone. Zero means [backup.DefaultKeep].
	Keep int `json:"keep,omitempty" jsonschema:"How many changes can be undone. Default: 100."`
	// MaxMb is how many MiB of contents are kept for changes that can be undone. A
	// change that replaces or removes more than a quarter of it is refused. Zero means
	// [backup.DefaultKeepBytes].
	MaxMb int64 `json:"maxMb,omitempty" jsonschema:"How many MiB of content can be undone; more can be stored for a while. A single change that replaces or removes more than a quarter is refused. Default: 256."`
}

// maxMb is the greatest limit that is a number of bytes.
const maxMb = math.MaxInt64 >> 20

// check adds what is wrong with the settings that n has, beside their types.
func (b *Backup) check(p *diagnostics, n *document.Node) {
	if dir := n.Lookup("dir"); dir != nil && dir.Kind == document.Text && (!ops.ValidName(dir.Text) || dir.Text == "." || ops.InGit(dir.Text)) {
		p.Add(dir.At, "dir %q is no directory for backups: name one below the root and outside of .git, such as %s", document.Short(dir.Raw), backup.DefaultDir)
	}
	if keep := n.Lookup("keep"); keep != nil && keep.IsInteger() && b.Keep < 1 {
		p.Add(keep.At, "keep must be at least 1: leave it out for the default of %d", backup.DefaultKeep)
	}
	if size := n.Lookup("maxMb"); size != nil && size.IsInteger() && (b.MaxMb < 1 || b.MaxMb > maxMb) {
		p.Add(size.At, "maxMb must be between 1 and %d, in MiB: leave it out for the default of %d", int64(maxMb), backup.DefaultKeepBytes>>20)
	}
}

// dir returns the directory with the backups of the workspace name.
func (b *Backup) dir(name string) string {
	switch {
	case b.Dir != "":
		return b.Dir
	case b.Workspace != "":
		return backup.DefaultDir + "/" + name
	}
	return backup.DefaultDir
}
