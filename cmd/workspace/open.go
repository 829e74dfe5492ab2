package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// The kinds of provider.
const (
	kindLocal  = "localbash"
	kindMemory = "memory"
	kindStore  = "objectstore"
)

func kinds() []string { return []string{kindLocal, kindMemory, kindStore} }

// storeURL is what the -C of a bucket begins with.
const storeURL = objectstore.Scheme + "://"

// kind returns the kind of provider: what -C shows, where --provider does not
// say it.
func (s *settings) kind() string {
	if strings.HasPrefix(s.dir, storeURL) && !s.flags.Changed("provider") {
		return kindStore
	}
	return s.provider
}

// open returns the workspace that the settings describe, and what closes it.
func (s *settings) open(ctx context.Context) (*workspace.Workspace, func(), error) {
	fsys, err := s.openProvider(ctx)
	if err != nil {
		return nil, nil, err
	}
	release := func() {
		if closer, ok := fsys.(io.Closer); ok {
			closer.Close()
		}
	}
	seen := fsys
	if s.readOnly {
		seen = policy.ReadOnly(fsys)
	}
	return workspace.New(s.name, seen, &workspace.Options{MaxFileSize: s.maxFileMB << 20}), release, nil
}

func (s *settings) openProvider(ctx context.Context) (workspace.FileSystem, error) {
	switch kind := s.kind(); kind {
	case kindMemory:
		if err := s.meaningless(kind, "dir", "relaxed"); err != nil {
			return nil, err
		}
		return memory.New(nil), nil
	case kindStore:
		return s.openStore(ctx)
	}
	if strings.HasPrefix(s.dir, storeURL) {
		return nil, fmt.Errorf("-C is a bucket, and --provider %s has none: leave --provider out", s.provider)
	}
	fsys, err := localbash.Open(s.dir, &localbash.Options{Relaxed: s.relaxed})
	if err != nil {
		return nil, fmt.Errorf("folder %q of -C: %s", s.dir, plain(err))
	}
	return fsys, nil
}

// openStore opens the bucket that -C names.
func (s *settings) openStore(ctx context.Context) (workspace.FileSystem, error) {
	if err := s.meaningless(kindStore, "relaxed"); err != nil {
		return nil, err
	}
	opts, err := objectstore.ParseURL(s.dir)
	if err != nil {
		return nil, fmt.Errorf("-C: %w", err)
	}
	fsys, err := objectstore.Open(ctx, opts)
	if err != nil {
		return nil, fmt.Errorf("-C: %s", plain(err))
	}
	return fsys, nil
}

// meaningless refuses flags that a kind of provider has no use for.
func (s *settings) meaningless(kind string, flags ...string) error {
	for _, flag := range flags {
		if s.flags.Changed(flag) {
			return fmt.Errorf("--%s has no meaning with --provider %s", flag, kind)
		}
	}
	return nil
}

// openTools returns the tools of the workspace that the settings describe, and
// what closes it. The empty naming is the default one.
func (s *settings) openTools(ctx context.Context, naming string) (*tools.Set, func(), error) {
	ws, release, err := s.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	set, err := tools.New(ws, &tools.Options{Naming: naming})
	if err != nil {
		release()
		return nil, nil, err
	}
	return set, release, nil
}
