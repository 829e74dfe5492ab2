package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace/config/internal/document"
	"github.com/workspacekit/workspacekit/workspace/kind"
)

// kindKey is the key of a provider that names its kind.
const kindKey = "kind"

// provider is a provider that can be opened.
type provider struct {
	name  string
	kind  *kind.Kind
	in    kind.Input
	files *configFiles // of the configuration that describes the workspace
}

// check returns what is wrong with the options beside their types.
func (p provider) check() error {
	if p.kind.Check == nil {
		return nil
	}
	return p.kind.Check(p.in)
}

// provider returns what opens the workspace d. The caller must not use it if the
// call adds problems.
func (c *Config) provider(p *diagnostics, r *Registry, d *description) provider {
	if d.kind == nil {
		return provider{} // which has been said
	}
	in := kind.Input{Name: d.name, Dir: c.dir, File: c.file, ReadOnly: d.settings().ReadOnly, ConfigIn: c.configIn}
	before := p.Len()
	var opener provider
	if d.kind == d.Provider {
		opener = r.fromURL(p, d, in)
	} else {
		opener = c.fromNode(p, r, d, in)
	}
	opener.files = c.files
	d.checkGit(p, opener)
	// What is missing because it is broken is not reported as missing.
	if p.Len() == before && !d.Provider.HasBroken() {
		if err := opener.check(); err != nil {
			d.addError(p, err)
		}
	}
	return opener
}

// checkGit adds an error for a git in a workspace that is not a local folder.
func (d *description) checkGit(p *diagnostics, opener provider) {
	if d.Git.on() && opener.kind != nil && !opener.kind.Local {
		p.Add(d.node.Lookup("git").At, "git needs a folder of this computer, and the provider %s is none: leave it out", opener.name)
	}
}

// checkStores adds an error for each of chosen with backups in a workspace that is deleted when
// it is closed.
func (c *Config) checkStores(p *diagnostics, r *Registry, chosen []*description) {
	for _, d := range c.backedUp {
		i := slices.IndexFunc(c.all, func(other *description) bool { return other.name == d.Backup.Workspace })
		if i < 0 || c.all[i] == d || !slices.Contains(chosen, d) {
			continue // which checkBackups has said, or nobody has asked
		}
		store := c.provider(c.problems(), r, c.all[i])
		if store.kind != nil && store.kind.Discards != nil && store.kind.Discards(store.in) {
			p.Add(d.node.Lookup("backup").Lookup("workspace").At,
				"the workspace %q is deleted when it is closed, with the backups: name one that stays, such as a folder", d.Backup.Workspace)
		}
	}
}

// checkRun adds an error for a workspace that requires run if its provider cannot, or the
// settings refuse every command. A provider with problems of its own may lack its kind.
func (c *Config) checkRun(p *diagnostics, opener provider, d *description) {
	if slices.Contains(d.Requires, runName) && opener.kind != nil && c.whyNoRun(opener, d) != "" {
		c.addMissing(p, opener, d, runName)
	}
}

// WhyNoRun says why no command can run in ws, which c has opened, and what to do about it: "its
// settings refuse every command: write ...". It is empty if c does not know.
func (c *Config) WhyNoRun(ws *Workspace) string {
	if d := c.named(ws.Name()); d != nil {
		return c.whyNoRun(ws.opener, d)
	}
	return ""
}

// whyNoRun says why no command can run in the workspace d, and what to do about it. It is empty
// if that shows only when the workspace is open.
func (c *Config) whyNoRun(opener provider, d *description) string {
	switch {
	case opener.kind.CanRun != nil && !opener.kind.CanRun(opener.in):
		return fmt.Sprintf("its provider (%s) runs no commands: choose a container or a folder with run: {enabled: true}", opener.name)
	case !c.allowsRun(d):
		return `its settings refuse every command: write rules: [{ask: [run], paths: ["**"]}] in its fs, and no quota`
	}
	return ""
}

// addMissing adds an error for capabilities that d requires and does not have.
func (c *Config) addMissing(p *diagnostics, opener provider, d *description, missing string) {
	at := d.node.Lookup("requires").At
	if why := c.whyNoRun(opener, d); missing == runName && why != "" {
		p.Add(at, "the workspace %q requires run, and %s, or leave run out", d.name, why)
		return
	}
	p.Add(at, "the workspace %q requires what its provider (%s) and its settings do not give: %s",
		d.name, opener.name, missing)
}

func (r *Registry) fromURL(p *diagnostics, d *description, in kind.Input) provider {
	name, options, err := r.parseURL(d.kind.Text, d.kind.Raw)
	if err != nil {
		d.addError(p, err)
		return provider{}
	}
	in.Values = assign(options)
	return provider{name: name, kind: r.kinds[name], in: in}
}

func (c *Config) fromNode(p *diagnostics, r *Registry, d *description, in kind.Input) provider {
	of, ok := r.kinds[d.kind.Text]
	if !ok {
		meant := wording.Suggest(d.kind.Raw, r.Kinds())
		if name := r.KindOf(strings.ToLower(d.kind.Raw)); name != "" { // the scheme of a URL, such as docker
			meant = fmt.Sprintf("did you mean %q?", name)
		}
		p.Add(d.kind.At, "there is no kind of provider %q: %s", document.Short(d.kind.Raw), meant)
		return provider{}
	}
	what, n := "the provider "+d.kind.Raw, d.Provider
	p.decoder().DecodeStruct(what, n, reflect.New(reflect.TypeOf(of.Options)).Elem(), kindKey)
	in.Values = func(into any) error {
		p := c.problems()
		p.decoder().DecodeStruct(what, n, reflect.ValueOf(into).Elem(), kindKey)
		return p.err()
	}
	return provider{name: d.kind.Text, kind: of, in: in}
}

// settingError is an error about a key of a workspace beside its provider.
type settingError struct {
	key string
	err error
}

// Error implements error.
func (e *settingError) Error() string { return e.err.Error() }

// Unwrap returns the error itself.
func (e *settingError) Unwrap() error { return e.err }

// addError adds what a kind says of the provider: each of the errors that it
// joined. A [settingError] is about its own key.
func (d *description) addError(p *diagnostics, err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok && isJoined(err, joined.Unwrap()) {
		for _, part := range joined.Unwrap() {
			d.addError(p, part)
		}
		return
	}
	at := d.Provider.At
	var about *kind.Error
	if errors.As(err, &about) {
		at = d.Provider.Find(about.Key)
	}
	var setting *settingError
	if errors.As(err, &setting) {
		at = d.node.Find(setting.key)
	}
	p.Add(at, "%s", document.Redact(err.Error(), d.node.Variables()))
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
