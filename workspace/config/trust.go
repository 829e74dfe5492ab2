package config

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/internal/filelock"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace/config/internal/document"
)

// ErrUntrusted says that a file that was found asks for more than such a file
// may without the user's trust. It is also [fs.ErrPermission].
var ErrUntrusted = fmt.Errorf("the file is not trusted: %w", fs.ErrPermission)

// TrustStore remembers which files the user trusts, by path and content: a file
// that changes, or is copied elsewhere, is no longer trusted. It is safe for
// concurrent use, also by several processes, except on systems without locks of files, where a
// change can undo another one of the same moment.
type TrustStore struct{ path string }

// Trusted is an entry of a [TrustStore].
type Trusted struct {
	// Path is the absolute path of the file.
	Path string `json:"path"`
	// SHA256 is the hash of its content, in hexadecimal digits.
	SHA256 string `json:"sha256"`
	// Since is when the user trusted it.
	Since time.Time `json:"since"`
}

// NewTrustStore returns the store in the file path, which is created when
// something is trusted.
func NewTrustStore(path string) *TrustStore { return &TrustStore{path: path} }

// UserTrustStore returns the store of the user: workspace/trusted.json in
// XDG_STATE_HOME, in ~/.local/state where that is not set
// (https://specifications.freedesktop.org/basedir-spec/latest/), and in
// %LocalAppData% on Windows.
//
// # Errors
//
// That there is no such folder.
func UserTrustStore() (*TrustStore, error) {
	dir := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		var err error
		if dir, err = defaultStateDir(); err != nil {
			return nil, fmt.Errorf("there is no folder for the files that you trust: %w; set XDG_STATE_HOME", err)
		}
	}
	return NewTrustStore(filepath.Join(dir, "workspace", "trusted.json")), nil
}

func defaultStateDir() (string, error) {
	if runtime.GOOS == "windows" {
		return os.UserCacheDir() // %LocalAppData%
	}
	home, err := os.UserHomeDir()
	if err == nil && !filepath.IsAbs(home) {
		err = errors.New("HOME is not an absolute path")
	}
	return filepath.Join(home, ".local", "state"), err
}

// Path returns the path of the store.
func (t *TrustStore) Path() string { return t.path }

// List returns what is trusted, sorted by path, files that have changed since
// included.
//
// # Errors
//
// A store that cannot be read.
func (t *TrustStore) List() ([]Trusted, error) {
	entries, err := t.read()
	if err != nil {
		return nil, err
	}
	list := slices.Collect(maps.Values(entries))
	slices.SortFunc(list, func(a, b Trusted) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}

// Trusts reports whether the user trusts the file path with the given content.
// A store that cannot be read trusts nothing.
func (t *TrustStore) Trusts(path string, content []byte) bool {
	if t == nil {
		return false
	}
	key, err := trustKey(path)
	if err != nil {
		return false
	}
	entries, err := t.read()
	return err == nil && entries[key].SHA256 == hashOf(content)
}

// Trust remembers that the user trusts the file that c was loaded from, with the
// content that it had then.
//
// # Errors
//
// A c that [Load] did not return, and a store that cannot be read or written.
func (t *TrustStore) Trust(c *Config) error {
	if c.hash == "" {
		return errors.New("config: only a file that was loaded can be trusted")
	}
	key, err := trustKey(c.files.path)
	if err != nil {
		return err
	}
	return t.change(func(entries map[string]Trusted) error {
		entries[key] = Trusted{Path: key, SHA256: c.hash, Since: time.Now().UTC().Truncate(time.Second)}
		return nil
	})
}

// Revoke forgets that the user trusts the file path, which need not exist.
//
// # Errors
//
// [fs.ErrNotExist] if it is not trusted, and a store that cannot be read or
// written.
func (t *TrustStore) Revoke(path string) error {
	key, err := trustKey(path)
	if err != nil {
		return err
	}
	return t.change(func(entries map[string]Trusted) error {
		if _, ok := entries[key]; !ok {
			return fmt.Errorf("%s is not among the trusted files: %w", path, fs.ErrNotExist)
		}
		delete(entries, key)
		return nil
	})
}

// trustKey returns the absolute path of a file. Symlinks in its folder are
// followed, as the folder decides what relative paths in the file mean; the
// file itself may be a symlink.
func trustKey(path string) (string, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	dir, base := filepath.Split(absolute)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return filepath.Join(dir, base), nil
}

func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// maxTrustStore is the most bytes of a store that are read.
const maxTrustStore = 8 << 20

// read returns the entries by path. A store that does not exist has none.
func (t *TrustStore) read() (map[string]Trusted, error) {
	f, err := os.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]Trusted{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var stored struct{ Trusted []Trusted }
	if err := json.NewDecoder(io.LimitReader(f, maxTrustStore)).Decode(&stored); err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w; delete it to trust no file", t.path, err)
	}
	entries := make(map[string]Trusted, len(stored.Trusted))
	for _, entry := range stored.Trusted {
		entries[entry.Path] = entry
	}
	return entries, nil
}

// lockTimeout is how long a change waits for those of other processes.
const lockTimeout = 10 * time.Second

// change replaces the store with what change makes of its entries. A reader
// sees the old store or the new one. A change locks a file beside the store, as the store itself
// is replaced.
func (t *TrustStore) change(change func(map[string]Trusted) error) error {
	dir := filepath.Dir(t.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	lock, err := os.OpenFile(t.path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close() // which also unlocks it
	if err := filelock.Lock(context.Background(), lock, lockTimeout); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("%s: %w", lock.Name(), err)
	}
	entries, err := t.read()
	if err != nil {
		return err
	}
	if err := change(entries); err != nil {
		return err
	}
	list := slices.SortedFunc(maps.Values(entries), func(a, b Trusted) int { return strings.Compare(a.Path, b.Path) })
	data, err := json.MarshalIndent(struct {
		Trusted []Trusted `json:"trusted"`
	}{list}, "", "  ")
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, ".trusted-*") // which only this user can read
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // fails after the rename
	_, err = temp.Write(append(data, '\n'))
	if err := errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), t.path)
}

// Grant is something that a workspace uses and that needs the user's trust: beyond memory
// and the folder of the file, or secrets and files that describe workspaces in it, or a
// variable of the environment.
type Grant struct {
	// Workspace is the name of the workspace.
	Workspace string `json:"workspace"`
	// Text says what it uses, such as "the folder /srv". Values that come from
	// the environment are replaced by the names of their variables.
	Text string `json:"text"`
}

// Trusted reports whether the file may describe whatever it likes: it was named
// and not found, or the user trusts it.
func (c *Config) Trusted() bool { return c.trusted }

// Grants returns what needs the user's trust, in the order of the file, whether or
// not the file is trusted.
//
// # Errors
//
// Those of [Config.Check], and of ctx.
func (c *Config) Grants(ctx context.Context, r *Registry) ([]Grant, error) {
	providers, err := c.providers(r, c.descriptions)
	if err != nil {
		return nil, err
	}
	var grants []Grant
	for i, d := range c.descriptions {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		uses, err := c.usesOf(d, providers[i])
		if err != nil {
			return nil, c.failure(d, err)
		}
		for _, u := range uses {
			grants = append(grants, Grant{Workspace: d.name, Text: u.text})
		}
	}
	return grants, nil
}

// use is what a workspace uses, and where the file says so.
type use struct {
	at   document.Position
	text string
}

// usesOf returns what the workspace uses beyond memory and the folder of the file,
// and the secrets, and files that describe workspaces, that may be in that folder. Variables are
// among it, set or not, as errors and names of tools can show their values to an agent, and what
// the file uses depends on them.
func (c *Config) usesOf(d *description, opener provider) ([]use, error) {
	var uses []use
	add := func(at document.Position, texts ...string) {
		for _, text := range texts {
			uses = append(uses, use{at, document.Redact(text, d.variables())})
		}
	}
	ofProvider, err := opener.grants()
	add(d.node.Find("provider"), ofProvider...)
	if opener.kind.Local && c.files.unprotected {
		add(c.root.Find("protectConfig"), "the files that describe workspaces (protectConfig: false)")
	}
	if err == nil && !d.sensitive {
		switch settings := d.settings(); {
		case settings.Sensitive == AccessAllow:
			add(d.node.Find("fs.sensitive"), "files with the names of secrets (sensitive: allow)")
		case settings.Mode == ModeAudit:
			add(d.node.Find("fs.mode"), "files with the names of secrets (mode: audit)")
		}
	}
	add(d.node.Find("audit"), d.Audit.at(opener.in).grants()...)
	if d.Git.on() {
		add(d.node.Find("git"), "the program git")
	}
	var names []string
	for _, n := range []*document.Node{d.node, c.root.Lookup("protectConfig"), c.tools} {
		if n == nil {
			continue
		}
		for _, v := range n.Variables() {
			if !slices.Contains(names, v.Name) {
				names = append(names, v.Name)
				at, _ := n.Uses(v.Name)
				uses = append(uses, use{at, fmt.Sprintf("the variable %s of the environment", v.Name)})
			}
		}
	}
	return uses, err
}

// variables returns what d used of the environment. The value of a variable in a URL is there
// with its parts, as grants have those: of "box?user=me", they are "box", "user" and "me".
func (d *description) variables() []document.Variable {
	used := d.node.Variables()
	if d.kind != d.Provider {
		return used
	}
	for _, v := range d.kind.Used {
		for _, part := range strings.FieldsFunc(v.Value, func(r rune) bool { return strings.ContainsRune("/?#&=@:+", r) }) {
			if plain, err := url.PathUnescape(part); err == nil && plain != ".." {
				used = append(used, document.Variable{Name: v.Name, Value: plain})
			}
		}
	}
	return used
}

// grants returns what the provider uses beyond memory and the folder of the
// file.
func (p provider) grants() ([]string, error) {
	if p.kind.Grants == nil {
		return []string{"a provider of the kind " + p.name}, nil
	}
	return p.kind.Grants(p.in)
}

// checkTrust refuses what the file may not use without the user's trust.
func (c *Config) checkTrust(opener provider, d *description) error {
	if c.trusted {
		return nil
	}
	uses, err := c.usesOf(d, opener)
	if err != nil {
		return c.failure(d, err)
	}
	if len(uses) == 0 {
		return nil
	}
	slices.SortStableFunc(uses, func(a, b use) int { return a.at.Compare(b.at) })
	p := c.problems()
	for i, u := range uses {
		remedy := ""
		if i == len(uses)-1 {
			remedy = fmt.Sprintf(", and a file that nobody named needs your trust for that: read the file, then run \"workspace trust %s\"", wording.ShellWord(c.file))
		}
		p.Add(u.at, "the workspace %q uses %s%s", d.name, u.text, remedy)
	}
	return withCause(p.err(), ErrUntrusted)
}
