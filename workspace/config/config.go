// Package config opens workspaces that a YAML file describes:
//
//	c, err := config.Load("workspace.yaml", &config.Options{Registry: registry})
//	workspaces, err := c.Open(ctx, registry)
//	repo, ok := workspaces.Lookup("repo")
//
// The file says where the files are and what may be done with them:
//
//	workspaces:
//	  repo:
//	    provider: { kind: localbash, root: . }
//	    fs: { readOnly: true }
//	tools:
//	  disable: [rm]
//
// [Load] and [Parse] read a file, strictly: a key that is not known, and what is of the
// wrong type or missing, is an error with its place in the file, and all of them
// are reported together. [Config.Open] opens what the file describes, all of it or
// nothing.
//
// The package knows no provider. A [Registry] has each [kind.Kind] that there is: how
// its options are spelled, and how it is opened. docs/config.md describes
// the file.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/audit"
	"github.com/workspacekit/workspacekit/workspace/config/internal/document"
	"github.com/workspacekit/workspacekit/workspace/kind"
)

// FileName is the name of the file that [Find] looks for first, and that is
// created.
const FileName = "workspace.yaml"

// Options are the settings of [Load] and [Parse].
type Options struct {
	// Name is what errors call the file. Empty means the path for Load, and
	// [FileName] for Parse.
	Name string
	// Dir is the folder that relative folders in the file start from. Empty
	// means the folder of the file for Load, and the current folder for Parse.
	Dir string
	// Env returns a variable of the environment. Nil means [os.LookupEnv].
	Env func(name string) (value string, set bool)
	// Registry lets the kinds and their options be checked, too, so that all
	// errors of the file are reported together. Nil leaves that to
	// [Config.Check] and [Config.Open].
	Registry *Registry
	// Trust is for a file that [Find] found. Unless it trusts the file with this
	// content, [Config.Open] refuses workspaces that [Config.Grants] names, with
	// [ErrUntrusted]. Nil is for a file that somebody named: it may describe
	// whatever it likes.
	Trust *TrustStore
}

// Config is a file that has been read. It is safe for concurrent use while nobody
// changes Tools.
type Config struct {
	// Tools is the settings of the tools.
	Tools Tools

	file         string // its name, empty if there is none
	dir          string // where relative names of the file begin
	trusted      bool   // it may use more than its own folder
	root         *document.Node
	tools        *document.Node // nil if there is none
	files        *configFiles
	configIn     func(root string) []string // that of files; a method value for each workspace would take memory
	hash         string                     // of the content that was loaded, "" if none was
	lines        []string                   // of the file, for errors
	descriptions []*description
	all          []*description // with those that Only has left out
	backedUp     []*description // those of all that have backups in another workspace
}

// file is the shape of a file.
type file struct {
	Workspaces    *document.Node `json:"workspaces"`
	Tools         *document.Node `json:"tools,omitempty"`
	ProtectConfig *bool          `json:"protectConfig,omitempty" jsonschema:"Keeps the files that describe workspaces from being changed in local folders. Default: true."`
}

// description is what a file says of one workspace.
type description struct {
	Provider *document.Node `json:"provider"`
	FS       *FS            `json:"fs,omitempty" jsonschema:"Settings that apply to every provider and every caller."`
	Audit    *Audit         `json:"audit,omitempty" jsonschema:"A log of each operation, denials included, whose lines are chained by hashes."`
	Backup   *Backup        `json:"backup,omitempty" jsonschema:"Keeps the content that changes replace or delete, so that they can be undone."`
	Git      *Git           `json:"git,omitempty" jsonschema:"What happens in the git repository of a local folder."`
	Requires []string       `json:"requires,omitempty" jsonschema:"Capabilities that the workspace needs; without them it is not opened."`
	// PolicyTests are for Config.TestPolicy.
	PolicyTests []PolicyTest `json:"policyTests,omitempty" jsonschema:"What fs should allow and deny: cases for the command workspace policy test."`

	name string
	at   document.Position // of the name
	node *document.Node
	// sensitive says that AllowSensitive was called, so the setting is not the
	// file's.
	sensitive bool
	kind      *document.Node // the kind of its provider, or the URL that stands for it; nil if that is broken
}

// Load reads the file path. Nil opts mean the zero Options.
//
// # Errors
//
// An [*Error] for what is wrong with the content, and those of [os.Open].
func Load(path string, opts *Options) (*Config, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	if o.Name == "" {
		o.Name = path
	}
	if o.Dir == "" {
		o.Dir = filepath.Dir(path)
	}
	c, err := parse(data, path, o)
	if err != nil {
		return nil, err
	}
	c.hash = hashOf(data)
	c.trusted = c.trusted || o.Trust.Trusts(path, data)
	return c, nil
}

// byteOrderMark is what some editors write before a text.
const byteOrderMark = "\ufeff"

// readFile returns the content of a file, as much as is needed to know that it
// is too large.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: errNotFile(info)}
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, int64(len(byteOrderMark)+document.MaxBytes+1)))
}

func errNotFile(info fs.FileInfo) error {
	if info.IsDir() {
		return errors.New("it is a folder: name the file in it")
	}
	return errors.New("it is not a regular file")
}

// Parse reads the content of a file, which a Trust in opts does not trust, as
// only Load knows its path. Nil opts mean the zero Options.
//
// # Errors
//
// An [*Error] for what is wrong with the content.
func Parse(data []byte, opts *Options) (*Config, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	return parse(data, "", o)
}

// parse reads the content of the file path, which is empty if there is none.
func parse(data []byte, path string, o Options) (*Config, error) {
	if o.Name == "" {
		o.Name = FileName
	}
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	data = bytes.TrimPrefix(data, []byte(byteOrderMark))
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("config: the current folder cannot be found: %w", err)
	}
	p := &diagnostics{file: o.Name, Diagnostics: document.Diagnostics{Lines: document.Lines(data)}}
	c := &Config{file: o.Name, files: &configFiles{path: path}, dir: dir, lines: p.Lines, trusted: o.Trust == nil}
	c.configIn = c.files.below
	c.read(p, data, o)
	if err := p.err(); err != nil {
		return nil, err
	}
	return c, nil
}

// below returns the names of the protected files that are below root, or are root. Those that
// logs were rotated to are among them, and the directory of the record of trusted files: what a
// sandbox makes of a file ends when the file is replaced, as the record is by each change.
func (c *configFiles) below(root string) []string {
	names := append(namesIn(root, c.logs), namesIn(root, c.keys)...)
	for _, log := range c.logs {
		if rotated, err := audit.Files(log); err == nil {
			names = append(names, namesIn(root, rotated[:len(rotated)-1])...) // the last is log
		}
	}
	if !c.unprotected {
		names = append(names, namesIn(root, c.paths())...)
		for _, file := range record() {
			names = append(names, namesIn(root, []string{filepath.Dir(file)})...)
		}
	}
	return names
}

// read sets c to what the file says.
func (c *Config) read(p *diagnostics, data []byte, o Options) {
	root := document.Read(data, o.Env, &p.Diagnostics)
	if root == nil {
		return
	}
	c.root = root
	var f file
	p.decoder().Decode("the file", root, reflect.ValueOf(&f).Elem())
	c.files.unprotected = f.ProtectConfig != nil && !*f.ProtectConfig
	if f.Workspaces != nil {
		c.readWorkspaces(p, f.Workspaces)
	}
	if n := f.Tools; n != nil {
		p.decoder().Decode("tools", n, reflect.ValueOf(&c.Tools).Elem())
		c.tools = n
		c.Tools.check(p, n, len(c.descriptions))
	}
	for _, d := range c.descriptions {
		c.files.add(d.Audit.at(kind.Input{Dir: c.dir}))
	}
	if o.Registry != nil {
		for _, d := range c.descriptions {
			c.provider(p, o.Registry, d)
		}
		c.checkStores(p, o.Registry, c.descriptions)
	}
}

func (c *Config) readWorkspaces(p *diagnostics, n *document.Node) {
	switch {
	case n.Kind == document.Broken:
		return
	case n.Kind != document.Map:
		p.decoder().Wrong("workspaces", n, "a mapping of names to workspaces")
		return
	case len(n.Entries) == 0:
		p.Add(n.At, "there is no workspace: add one, such as {main: {provider: {kind: memory}}}")
	}
	names := map[string]string{}
	for _, e := range n.Entries {
		if wrong := nameFault(e.Key); wrong != "" {
			p.Add(e.At, "the name %q %s", document.Short(e.Key), wrong)
		}
		// Names of tools are not told apart by letter case everywhere.
		lower := strings.ToLower(e.Key)
		if other, twice := names[lower]; twice {
			p.Add(e.At, "the names %q and %q differ in letter case alone: rename one", other, e.Key)
		}
		names[lower] = e.Key
		c.descriptions = append(c.descriptions, describe(p, e))
	}
	c.all = c.descriptions
	c.checkBackups(p)
}

// checkBackups adds what is wrong with the backups of all workspaces.
func (c *Config) checkBackups(p *diagnostics) {
	owner := map[[2]string]string{} // of each directory in another workspace
	for _, d := range c.all {
		n := d.node.Lookup("backup")
		if n == nil || d.Backup == nil {
			continue
		}
		d.Backup.check(p, n)
		at := n.Lookup("workspace")
		if at == nil || at.Kind != document.Text {
			continue
		}
		c.backedUp = append(c.backedUp, d)
		place := [2]string{d.Backup.Workspace, d.Backup.dir(d.name)}
		switch {
		case at.Text == d.name:
			p.Add(at.At, "the workspace %q keeps its backups itself without this key: leave it out", d.name)
		case !slices.Contains(c.Names(), at.Text):
			p.Add(at.At, "there is no workspace %q: %s", document.Short(at.Raw), wording.Suggest(at.Raw, c.Names()))
		case owner[place] != "":
			p.Add(at.At, "the workspaces %q and %q have their backups in one directory: name two", owner[place], d.name)
		}
		owner[place] = d.name
	}
}

// describe returns what an entry of the workspaces says.
func describe(p *diagnostics, e document.Entry) *description {
	d := &description{name: e.Key, at: e.At, node: e.Value}
	what := fmt.Sprintf("the workspace %q", document.Short(e.Key))
	switch {
	case e.Value.Kind == document.Text && IsURL(e.Value.Text):
		d.Provider, d.kind = e.Value, e.Value
		return d
	case e.Value.Kind != document.Map && e.Value.Kind != document.Broken:
		p.decoder().Wrong(what, e.Value, "a mapping such as {provider: mem://}, or a URL such as mem://")
		return d
	}
	p.decoder().Decode(what, e.Value, reflect.ValueOf(d).Elem())
	if d.Provider != nil {
		d.kind = kindOf(p, d.Provider)
	}
	if n := e.Value.Lookup("fs"); n != nil {
		d.settings().check(p, n)
	}
	if n := e.Value.Lookup("audit"); n != nil && d.Audit != nil {
		d.Audit.check(p, n)
	}
	d.checkRequires(p, e.Value.Lookup("requires"))
	checkPolicyTests(p, e.Value.Lookup("policyTests"))
	d.checkMode(p)
	return d
}

// kindOf returns the node of the kind of a provider, which is the URL if it is
// described by one. It is nil if there is none, which is added.
func kindOf(p *diagnostics, n *document.Node) *document.Node {
	switch n.Kind {
	case document.Broken:
		return nil
	case document.Map:
	default:
		if n.Kind == document.Text && IsURL(n.Text) {
			return n
		}
		p.decoder().Wrong("provider", n, "a mapping such as {kind: memory}, or a URL such as mem://")
		return nil
	}
	kind := n.Lookup(kindKey)
	switch {
	case kind == nil:
		p.Add(n.At, "provider needs the key %q", kindKey)
		return nil
	case kind.Kind == document.Broken:
		return nil
	case kind.Kind != document.Text:
		p.decoder().Wrong(kindKey, kind.Needed(), document.AText)
		return nil
	}
	return kind
}

// checkPolicyTests adds what is wrong with the cases of n, which may be nil,
// beside their types.
func checkPolicyTests(p *diagnostics, n *document.Node) {
	if n == nil {
		return
	}
	for _, item := range n.Items {
		if op := item.Lookup("op"); op != nil && op.Kind == document.Text {
			checkOp(p, op)
		}
		if path := item.Lookup("path"); path != nil && path.Kind == document.Text && !ops.ValidName(path.Text) {
			p.Add(path.At, `the path %q is not a name such as "src/main.go", from the root of the workspace`, document.Short(path.Raw))
		}
	}
}

// checkRequires adds the items of n that are no capabilities, and those that readOnly
// takes from every provider.
func (d *description) checkRequires(p *diagnostics, n *document.Node) {
	if n == nil {
		return
	}
	readable := workspace.Capabilities{Versions: true, Watch: workspace.WatchNative}
	for _, item := range n.Items {
		switch {
		case item.Kind != document.Text:
		case !slices.Contains(requirementNames(), item.Text):
			p.Add(item.At, "there is no capability %q: %s", document.Short(item.Raw), wording.Suggest(item.Raw, requirementNames()))
		case d.settings().ReadOnly && lacking(readable, []string{item.Text}) != "":
			p.Add(item.At, "a workspace with readOnly has no %s: remove it here, or remove readOnly", item.Text)
		}
	}
}

// checkMode adds an error for rules that are not enforced and have nobody to tell.
func (d *description) checkMode(p *diagnostics) {
	if d.Audit == nil && d.settings().Mode == ModeAudit {
		p.Add(d.node.Lookup("fs").Find("mode"), "mode: audit needs an audit log: add audit: {file: audit.jsonl} to the workspace")
	}
}

// settings returns what the file says of settings, which must not be changed.
func (d *description) settings() *FS {
	if d.FS == nil {
		return noSettings
	}
	return d.FS
}

// noSettings are the settings of workspaces for which the file has none: one for
// all of them.
var noSettings = &FS{}

// Names returns the names of the workspaces, in the order of the file.
func (c *Config) Names() []string {
	names := make([]string, len(c.descriptions))
	for i, d := range c.descriptions {
		names[i] = d.name
	}
	return names
}

// Kind returns the kind of provider of a workspace: for one that is described
// by a URL, the scheme of that. It is empty if there is no such workspace.
func (c *Config) Kind(name string) string {
	d := c.named(name)
	if d == nil {
		return ""
	}
	scheme, _, isURL := strings.Cut(d.kind.Text, "://")
	if isURL {
		return strings.ToLower(scheme)
	}
	return scheme
}

// Settings returns the settings of a workspace, the zero FS if there is no such
// workspace.
func (c *Config) Settings(name string) FS {
	if d := c.named(name); d != nil {
		return d.settings().clone()
	}
	return FS{}
}

// named returns the description of a workspace, nil if there is no such workspace.
func (c *Config) named(name string) *description {
	for _, d := range c.descriptions {
		if d.name == name {
			return d
		}
	}
	return nil
}

// Check returns what is wrong with the kinds of provider and their options, and the
// requirement run of workspaces that cannot run commands. It opens nothing.
//
// # Errors
//
// An [*Error] with all of it; a nil r.
func (c *Config) Check(r *Registry) error {
	if r == nil {
		return errors.New("config: no registry")
	}
	p := c.problems()
	for _, d := range c.descriptions {
		c.checkRun(p, c.provider(p, r, d), d)
	}
	c.checkStores(p, r, c.descriptions)
	return p.err()
}

// CheckTools gives what check says of the tools of a workspace, such as that
// their names are too long, its place in the file: the key of the tools that a
// [kind.KeyError] names, or else the naming. It is called for the workspace with
// the longest name of those that are read-only, which have fewer tools, and of the others.
//
// # Errors
//
// An [*Error] with what check returned, with each error that it joined.
func (c *Config) CheckTools(check func(workspace string) error) error {
	longest := map[bool]*description{} // by whether it is read-only
	for _, d := range c.descriptions {
		readOnly := d.settings().ReadOnly
		if l := longest[readOnly]; l == nil || len(d.name) > len(l.name) {
			longest[readOnly] = d
		}
	}
	for _, readOnly := range []bool{false, true} {
		if d := longest[readOnly]; d != nil {
			if err := check(d.name); err != nil {
				return c.toolsError(d.at, err)
			}
		}
	}
	return nil
}

// toolsError returns err, which is about the tools, with its place in the file: at if the file
// has no settings of tools. Errors that it joined have a place each. It is nil if err is.
func (c *Config) toolsError(at document.Position, err error) error {
	if err == nil {
		return nil
	}
	p := c.problems()
	if joined, ok := err.(interface{ Unwrap() []error }); ok && isJoined(err, joined.Unwrap()) {
		for _, part := range joined.Unwrap() {
			c.addToolsError(p, at, part)
		}
	} else {
		c.addToolsError(p, at, err)
	}
	return p.err()
}

// addToolsError adds one error about the tools.
func (c *Config) addToolsError(p *diagnostics, at document.Position, err error) {
	text := err.Error()
	if c.tools != nil {
		var about *kind.Error
		switch naming := c.tools.Lookup("naming"); {
		case errors.As(err, &about):
			at, text = c.tools.Find(about.Key), about.Err.Error()
		case naming != nil:
			at = naming.At
		}
		text = document.Redact(text, c.tools.Variables())
	}
	p.Add(at, "%s", text)
}

func (c *Config) problems() *diagnostics {
	return &diagnostics{file: c.file, Diagnostics: document.Diagnostics{Lines: c.lines}}
}

// maxName is the longest name of a workspace: names of tools have at most 64
// characters, and it is a part of them.
const maxName = 32

// nameFault returns what is wrong with the name of a workspace, "" for nothing.
func nameFault(name string) string {
	switch {
	case name == "":
		return "is empty: give the workspace one"
	case len(name) > maxName:
		return fmt.Sprintf("is longer than %d characters: shorten it", maxName)
	case strings.IndexFunc(name, func(r rune) bool { return !nameRune(r) }) >= 0:
		return `has other characters than ASCII letters, digits, "_" and "-", and becomes a part of tool names: rename it`
	}
	return ""
}

func nameRune(r rune) bool {
	return r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
