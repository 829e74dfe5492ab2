package config

import (
	"errors"
	"reflect"
	"strconv"
	"strings"

	"github.com/workspacekit/workspacekit/workspace/kind"
)

// kindKey is the key of a provider that names its kind.
const kindKey = "kind"

// provider is a provider that can be opened.
type provider struct {
	name  string
	kind  *Kind
	in    Input
	files *configFiles // of the configuration that describes the workspace
}

// check returns what is wrong with the options beside their types.
func (p provider) check() error {
	if p.kind.Check == nil {
		return nil
	}
	return p.kind.Check(p.in)
}

// provider returns what opens the workspace d. It is not to be used if that
// adds problems.
func (c *Config) provider(p *problems, r *Registry, d *description) provider {
	if d.kind == nil {
		return provider{} // which has been said
	}
	in := Input{Name: d.name, Dir: c.dir, File: c.file, HoldsConfig: c.holdsConfig}
	before := len(p.found)
	var opener provider
	if d.kind == d.Provider.node {
		opener = r.fromURL(p, d, in)
	} else {
		opener = c.fromNode(p, r, d, in)
	}
	opener.files = &c.files
	// What is missing because it is broken is not reported as missing.
	if len(p.found) == before && !d.Provider.node.hasBroken() {
		if err := opener.check(); err != nil {
			d.addError(p, err)
		}
	}
	return opener
}

func (r *Registry) fromURL(p *problems, d *description, in Input) provider {
	name, options, err := r.parseURL(d.kind.text)
	if err != nil {
		d.addError(p, err)
		return provider{}
	}
	in.Values = assign(options)
	return provider{name: name, kind: r.kinds[name], in: in}
}

func (c *Config) fromNode(p *problems, r *Registry, d *description, in Input) provider {
	of, ok := r.kinds[d.kind.text]
	if !ok {
		p.add(d.kind.at, "there is no kind of provider %q: %s", short(d.kind.raw), suggest(d.kind.raw, r.Kinds()))
		return provider{}
	}
	what, n := "the provider "+d.kind.raw, d.Provider.node
	decoder{p}.structure(what, n, reflect.New(reflect.TypeOf(of.Options)).Elem(), kindKey)
	in.Values = func(into any) error {
		p := c.problems()
		decoder{p}.structure(what, n, reflect.ValueOf(into).Elem(), kindKey)
		return p.err()
	}
	return provider{name: d.kind.text, kind: of, in: in}
}

// kindOf returns the node of the kind of a provider, which is the URL if it is
// described by one. It is nil if there is none, which is added.
func kindOf(p *problems, n *node) *node {
	switch n.kind {
	case brokenNode:
		return nil
	case textNode:
		return urlOf(p, "provider", n)
	case mapNode:
	default:
		decoder{p}.wrong("provider", n, aProvider)
		return nil
	}
	kind := n.lookup(kindKey)
	switch {
	case kind == nil:
		p.add(n.at, "provider needs the key %q", kindKey)
		return nil
	case kind.kind == brokenNode:
		return nil
	case kind.kind != textNode:
		decoder{p}.wrong(kindKey, kind, aText)
		return nil
	}
	return kind
}

const aProvider = "a mapping such as {kind: memory}, or a URL such as mem://"

// urlOf returns n if it is a URL, and else nil, which is added.
func urlOf(p *problems, what string, n *node) *node {
	if !IsURL(n.text) {
		decoder{p}.wrong(what, n, aProvider)
		return nil
	}
	return n
}

// addError adds what a kind says of the provider: each of the errors that it
// joined.
func (d *description) addError(p *problems, err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok && isJoined(err, joined.Unwrap()) {
		for _, part := range joined.Unwrap() {
			d.addError(p, part)
		}
		return
	}
	at := d.Provider.node.at
	var about *kind.Error
	if errors.As(err, &about) {
		at = d.Provider.node.find(about.Key)
	}
	p.add(at, "%s", redact(err.Error(), d.node.variables()))
}

// find returns the place of what is at a path such as mounts[0].target, or the
// nearest to it that there is.
func (n *node) find(path string) position {
	at := n.at
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		index, err := strconv.Atoi(step)
		switch next := n.lookup(step); {
		case next != nil:
			n = next
		case err == nil && index < len(n.items):
			n = n.items[index]
		default:
			return at
		}
		at = n.at
	}
	return at
}

// isJoined reports whether err says what its parts say, a line each, as that of
// [errors.Join] does.
func isJoined(err error, parts []error) bool {
	texts := make([]string, len(parts))
	for i, part := range parts {
		texts[i] = part.Error()
	}
	return err.Error() == strings.Join(texts, "\n")
}
