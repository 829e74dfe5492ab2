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
	// content, [Config.Open] opens workspaces in memory and in folders inside of
	// the folder of the file, and refuses all others with [ErrUntrusted]. Nil
	// is for a file that somebody named: it may describe whatever it likes.
	Trust *TrustStore
}

// Config is a file that has been read. It is immutable.
type Config struct {
	// Tools is the settings of the tools.
	Tools Tools

	file         string
	dir          string
	trusted      bool
	naming       position // of the key in the tools, zero if there is none
	files        configFiles
	holdsConfig  func(root string) bool // that of files; a method value for each workspace would take memory
	hash         string                 // of the content that was loaded, "" if none was
	lines        []string
	descriptions []*description
}

// file is the shape of a file.
type file struct {
	Workspaces    later `json:"workspaces"`
	Tools         later `json:"tools,omitempty"`
	ProtectConfig *bool `json:"protectConfig,omitempty" jsonschema:"Lets no workspace change the files that describe workspaces. Default: true."`
}

// description is what a file says of one workspace.
type description struct {
	Provider later    `json:"provider"`
	FS       FS       `json:"fs,omitempty" jsonschema:"Settings that hold for every provider and every consumer."`
	Requires []string `json:"requires,omitempty" jsonschema:"Capabilities without which the workspace is not opened."`

	name string
	at   position // of the name
	node *node
	kind *node // the kind of its provider, or the URL that stands for it; nil if that is broken
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
	return io.ReadAll(io.LimitReader(f, maxBytes+1))
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
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // which some editors write
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("config: the current folder is not to be found: %w", err)
	}
	p := &problems{file: o.Name, lines: strings.Split(string(data[:min(len(data), maxBytes)]), "\n")}
	c := &Config{file: o.Name, files: configFiles{path: path}, dir: dir, lines: p.lines, trusted: o.Trust == nil}
	c.holdsConfig = c.files.below
	c.read(p, data, o)
	if err := p.err(); err != nil {
		return nil, err
	}
	return c, nil
}

// read sets c to what the file says.
func (c *Config) read(p *problems, data []byte, o Options) {
	r := &reader{problems: p, lookup: o.Env, anchors: map[string]*node{}}
	root := r.read(data)
	if root == nil {
		return
	}
	var f file
	decoder{p}.decode("the file", root, reflect.ValueOf(&f).Elem())
	c.files.unprotected = f.ProtectConfig != nil && !*f.ProtectConfig
	if f.Workspaces.node != nil {
		c.readWorkspaces(p, f.Workspaces.node)
	}
	if n := f.Tools.node; n != nil {
		decoder{p}.decode("tools", n, reflect.ValueOf(&c.Tools).Elem())
		if naming := n.lookup("naming"); naming != nil {
			c.naming = naming.at
		}
		c.Tools.check(p, n, len(c.descriptions))
	}
	if o.Registry != nil {
		for _, d := range c.descriptions {
			c.provider(p, o.Registry, d)
		}
	}
}

func (c *Config) readWorkspaces(p *problems, n *node) {
	switch {
	case n.kind == brokenNode:
		return
	case n.kind != mapNode:
		decoder{p}.wrong("workspaces", n, "a mapping of names to workspaces")
		return
	case len(n.entries) == 0:
		p.add(n.at, "there is no workspace: add one, such as {main: {provider: {kind: memory}}}")
	}
	names := map[string]string{}
	for _, e := range n.entries {
		if wrong := nameFault(e.key); wrong != "" {
			p.add(e.at, "the name %q %s", short(e.key), wrong)
		}
		// Names of tools are not told apart by letter case everywhere.
		lower := strings.ToLower(e.key)
		if other, twice := names[lower]; twice {
			p.add(e.at, "the names %q and %q differ in letter case alone: rename one", other, e.key)
		}
		names[lower] = e.key
		c.descriptions = append(c.descriptions, describe(p, e))
	}
}

// describe returns what an entry of the workspaces says.
func describe(p *problems, e entry) *description {
	d := &description{name: e.key, at: e.at, node: e.value}
	if e.value.kind == textNode {
		d.Provider = later{e.value}
		d.kind = urlOf(p, fmt.Sprintf("the workspace %q", short(e.key)), e.value)
		return d
	}
	decoder{p}.decode(fmt.Sprintf("the workspace %q", short(e.key)), e.value, reflect.ValueOf(d).Elem())
	if d.Provider.node != nil {
		d.kind = kindOf(p, d.Provider.node)
	}
	if n := e.value.lookup("fs"); n != nil {
		d.FS.check(p, n)
	}
	checkRequires(p, e.value.lookup("requires"))
	return d
}

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
	for _, d := range c.descriptions {
		if d.name == name {
			scheme, _, isURL := strings.Cut(d.kind.text, "://")
			if isURL {
				return strings.ToLower(scheme)
			}
			return scheme
		}
	}
	return ""
}

// Settings returns the settings of a workspace, the zero FS if there is no such
// workspace.
func (c *Config) Settings(name string) FS {
	for _, d := range c.descriptions {
		if d.name == name {
			return d.FS.clone()
		}
	}
	return FS{}
}

// Check returns what is wrong with the kinds of provider and their options, as
// far as that is to be known without opening anything.
//
// # Errors
//
// An [*Error] with all of it.
func (c *Config) Check(r *Registry) error {
	if r == nil {
		return errors.New("config: no registry")
	}
	p := c.problems()
	for _, d := range c.descriptions {
		c.provider(p, r, d)
	}
	return p.err()
}

// CheckTools gives what check says of the tools of a workspace, such as that
// their names are too long, its place in the file. It is called for the
// workspace with the longest name.
//
// # Errors
//
// An [*Error] with what check returned.
func (c *Config) CheckTools(check func(workspace string) error) error {
	longest := slices.MaxFunc(c.descriptions, func(a, b *description) int { return len(a.name) - len(b.name) })
	err := check(longest.name)
	if err == nil {
		return nil
	}
	at := c.naming
	if at == (position{}) {
		at = longest.at
	}
	p := c.problems()
	p.add(at, "%s", err)
	return p.err()
}

func (c *Config) problems() *problems { return &problems{file: c.file, lines: c.lines} }
