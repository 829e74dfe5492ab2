package config

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/kind"
)

// Ref is a reference to a workspace, which [Registry.Resolve] opens again, in
// another process as well. Its JSON is stable. It has no credentials, nor what a
// kind leaves out because it may have some, such as the environment of commands
// in a folder of this computer. Whoever can change it chooses what is opened:
// keep it where you would keep the file.
type Ref struct {
	// Kind is the kind of provider, and SchemaVersion that of Payload.
	Kind          string `json:"kind"`
	SchemaVersion int    `json:"schemaVersion"`
	// Name is the name of the workspace.
	Name string `json:"name"`
	// Payload is what the kind opens it from.
	Payload json.RawMessage `json:"payload"`
	// FS is the settings, which hold for what is opened again, too.
	FS FS `json:"fs,omitzero"`
	// Audit is the audit log, which records the operations on what is opened again,
	// too. Its paths are absolute.
	Audit *Audit `json:"audit,omitempty"`
	// Backup says where in the workspace the backups are. A workspace whose backups
	// are in another one has no reference.
	Backup *Backup `json:"backup,omitempty"`
	// Git is the setting of the same name.
	Git *Git `json:"git,omitempty"`
	// Hidden are the directories with the backups of other workspaces.
	Hidden []string `json:"hidden,omitempty"`
	// Files are what nobody may change in a folder of this computer.
	Files RefFiles `json:"files,omitzero"`
	// Capabilities are those that the workspace had. What is opened again has
	// them, Watch perhaps of another kind, or is refused.
	Capabilities workspace.Capabilities `json:"capabilities"`
}

// RefFiles are the files of a configuration.
type RefFiles struct {
	// Config is the absolute path of the file that described the workspace, empty if
	// there was none.
	Config string `json:"config,omitempty"`
	// Unprotected says that the file had "protectConfig: false".
	Unprotected bool `json:"unprotected,omitempty"`
	// Logs are the absolute paths of the audit logs of all its workspaces, and Keys those of
	// their keys.
	Logs []string `json:"logs,omitempty"`
	Keys []string `json:"keys,omitempty"`
}

// ref returns c for a reference.
func (c *configFiles) ref() (RefFiles, error) {
	files := RefFiles{Unprotected: c.unprotected, Logs: slices.Clone(c.logs), Keys: slices.Clone(c.keys)}
	if c.path == "" {
		return files, nil
	}
	var err error
	files.Config, err = filepath.Abs(c.path)
	return files, err
}

// configFiles returns the files that the reference protects.
func (ref Ref) configFiles() *configFiles {
	files := &configFiles{path: ref.Files.Config, unprotected: ref.Files.Unprotected, logs: slices.Clone(ref.Files.Logs), keys: slices.Clone(ref.Files.Keys)}
	files.add(ref.Audit)
	return files
}

// Ref returns a reference to w.
//
// # Errors
//
// [errors.ErrUnsupported] if the kind makes none, and those of the kind.
func (w *Workspace) Ref(ctx context.Context) (Ref, error) {
	k := w.opener.kind
	if k.Ref == nil {
		return Ref{}, fmt.Errorf("config: the provider %s makes no references: %w", w.opener.name, errors.ErrUnsupported)
	}
	if w.layers.store != nil {
		return Ref{}, fmt.Errorf("config: the backups of the workspace %q are in another one, which a reference does not name: %w",
			w.Name(), errors.ErrUnsupported)
	}
	payload, err := k.Ref(ctx, w.fsys, w.opener.in)
	if err != nil {
		return Ref{}, err
	}
	data, err := json.Marshal(payload)
	if err != nil {
		return Ref{}, fmt.Errorf("config: the reference of the provider %s cannot be written: %w", w.opener.name, err)
	}
	ref := Ref{
		Kind: w.opener.name, SchemaVersion: versionOf(k), Name: w.Name(),
		Payload: data, FS: w.Settings(), Audit: w.layers.watchers.audit, Git: w.layers.watchers.git, Backup: w.layers.backup,
		Hidden: slices.Clone(w.layers.hidden), Capabilities: w.Capabilities(),
	}
	if k.Local {
		ref.Files, err = w.opener.files.ref()
	}
	return ref, err
}

// Resolve opens the workspace that ref refers to.
//
// # Errors
//
// What keeps it from being opened: a kind that is not registered, a reference
// of a newer version, settings that cannot be used, those of the kind, and
// [errors.ErrUnsupported] if a capability is missing that it had.
func (r *Registry) Resolve(ctx context.Context, ref Ref) (*Workspace, error) {
	ws, err := r.resolve(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("the reference to the workspace %q cannot be resolved: %w", ref.Name, err)
	}
	return ws, nil
}

func (r *Registry) resolve(ctx context.Context, ref Ref) (*Workspace, error) {
	k, err := r.checkRef(ref)
	if err != nil {
		return nil, err
	}
	files := ref.configFiles()
	in := kind.Input{
		Name: ref.Name, SchemaVersion: ref.SchemaVersion, ReadOnly: ref.FS.ReadOnly, Values: decodeJSON(ref.Payload), ConfigIn: files.below,
	}
	fsys, err := reopen(ctx, k, in)
	if err != nil {
		return nil, err
	}
	settings := ref.FS.clone()
	l := layers{settings: &settings, watchers: watchers{ref.Audit, ref.Git}, backup: ref.Backup, hidden: ref.Hidden}
	ws, err := newWorkspace(provider{name: ref.Kind, kind: k, in: in, files: files}, fsys, l)
	if err == nil {
		err = checkCapabilities(ref.Capabilities, ws.Capabilities())
	}
	if err != nil {
		release(fsys)
		return nil, err
	}
	ws.undoKilled(ctx)
	if ws.Capabilities().Run {
		ws.createRecord()
	}
	return ws, nil
}

// reopen opens what a reference keeps.
func reopen(ctx context.Context, k *kind.Kind, in kind.Input) (workspace.FileSystem, error) {
	if k.Resolve != nil {
		return k.Resolve(ctx, in)
	}
	if k.Check != nil { // the payload is options, and may have been changed
		if err := k.Check(in); err != nil {
			return nil, err
		}
	}
	return k.Open(ctx, in)
}

// checkRef returns the kind of a reference that can be resolved.
func (r *Registry) checkRef(ref Ref) (*kind.Kind, error) {
	k, ok := r.kinds[ref.Kind]
	switch {
	case !ok:
		return nil, fmt.Errorf("there is no kind of provider %q: %s", ref.Kind, wording.Suggest(ref.Kind, r.Kinds()))
	case k.Ref == nil:
		return nil, fmt.Errorf("the provider %s makes no references: %w", ref.Kind, errors.ErrUnsupported)
	case ref.SchemaVersion < 1, ref.SchemaVersion > versionOf(k):
		return nil, fmt.Errorf("its version is %d, and this program reads versions 1 to %d of the provider %s: %w",
			ref.SchemaVersion, versionOf(k), ref.Kind, errors.ErrUnsupported)
	}
	if ref.Git.on() && !k.Local {
		return nil, fmt.Errorf("git needs a folder of this computer, and the provider %s is none: %w", ref.Kind, errors.ErrUnsupported)
	}
	if wrong := nameFault(ref.Name); wrong != "" {
		return nil, errors.New("its name " + wrong)
	}
	return k, ref.FS.checkAlone()
}

// checkCapabilities returns the error of capabilities that were there and are
// not.
func checkCapabilities(had, has workspace.Capabilities) error {
	var names []string
	for _, r := range requirements {
		if r.met(had) {
			names = append(names, r.name)
		}
	}
	if missing := lacking(has, names); missing != "" {
		return fmt.Errorf("what it refers to lacks what it had: %s: %w", missing, errors.ErrUnsupported)
	}
	return nil
}

// decodeJSON is a decode of what a reference keeps.
func decodeJSON(data []byte) func(into any) error {
	return func(into any) error {
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(into); err != nil {
			return fmt.Errorf("config: the payload of the reference cannot be read: %w", err)
		}
		if decoder.More() {
			return errors.New("config: the payload of the reference has more than one value")
		}
		return nil
	}
}
