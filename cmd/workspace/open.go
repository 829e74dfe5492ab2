package main

import (
	"fmt"
	"io"

	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// The kinds of provider.
const (
	kindLocal  = "localbash"
	kindMemory = "memory"
)

func kinds() []string { return []string{kindLocal, kindMemory} }

// open returns the workspace that the settings describe, and what closes it.
func (s *settings) open() (*workspace.Workspace, func(), error) {
	fsys, err := s.openProvider()
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

func (s *settings) openProvider() (workspace.FileSystem, error) {
	if s.provider == kindMemory {
		for _, flag := range []string{"dir", "relaxed"} {
			if s.flags.Changed(flag) {
				return nil, fmt.Errorf("--%s has no meaning with --provider %s", flag, kindMemory)
			}
		}
		return memory.New(nil), nil
	}
	fsys, err := localbash.Open(s.dir, &localbash.Options{Relaxed: s.relaxed})
	if err != nil {
		return nil, fmt.Errorf("folder %q of -C: %s", s.dir, plain(err))
	}
	return fsys, nil
}

// openTools returns the tools of the workspace that the settings describe, and
// what closes it. The empty naming is the default one.
func (s *settings) openTools(naming string) (*tools.Set, func(), error) {
	ws, release, err := s.open()
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
