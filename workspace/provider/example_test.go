package provider_test

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// store keeps a workspace in a map.
type store struct {
	mu      sync.Mutex // guards what follows
	entries map[string]entry
	writes  int // the last version
}

type entry struct {
	workspace.FileInfo
	data string
}

func New() *provider.FS {
	return provider.New(&store{entries: map[string]entry{".": directory(".")}}, provider.Facts{
		Capabilities: workspace.Capabilities{Write: true, Versions: true, ConditionalWrite: true, Watch: workspace.WatchPolled},
	})
}

func directory(name string) entry {
	return entry{FileInfo: workspace.FileInfo{Name: path.Base(name), Path: name, Type: workspace.TypeDirectory}}
}

// find returns the entry name, or why there is none. s.mu is held.
func (s *store) find(name string) (entry, error) {
	if e, ok := s.entries[name]; ok {
		return e, nil
	}
	parent, err := s.find(path.Dir(name))
	if err == nil && !parent.IsDir() {
		err = workspace.ErrNotDir
	}
	return entry{}, cmp.Or(err, fs.ErrNotExist)
}

// put stores e and the directories above it. s.mu is held.
func (s *store) put(e entry) {
	for ; e.Path != "."; e = directory(path.Dir(e.Path)) {
		s.entries[e.Path] = e
	}
}

func (s *store) Stat(_ context.Context, name string) (workspace.FileInfo, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.find(name)
	return e.FileInfo, err
}

func (s *store) ReadFile(_ context.Context, name string, _ int64) ([]byte, workspace.Version, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.find(name)
	if e.IsDir() {
		err = workspace.ErrIsDir
	}
	return []byte(e.data), e.Version, err
}

func (s *store) WriteFile(_ context.Context, name string, data []byte, opts workspace.WriteOptions) (workspace.Version, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.find(name)
	if err := provider.CheckWrite(e.FileInfo, err, opts); err != nil {
		return "", err
	}
	s.writes++
	version := workspace.Version(strconv.Itoa(s.writes))
	s.put(entry{workspace.FileInfo{
		Name: path.Base(name), Path: name, Type: workspace.TypeFile, Size: int64(len(data)), Version: version,
	}, string(data)})
	return version, nil
}

func (s *store) Mkdir(_ context.Context, name string, opts workspace.MkdirOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.find(name)
	if err := provider.CheckMkdir(e.FileInfo, err, opts); err != nil {
		return err
	}
	if _, err := s.find(path.Dir(name)); err != nil && !opts.Recursive {
		return err
	}
	s.put(directory(name))
	return nil
}

func (s *store) Ls(_ context.Context, dir string, opts workspace.LsOptions) (infos []workspace.FileInfo, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, err := s.find(dir); err != nil || !e.IsDir() {
		return nil, cmp.Or(err, workspace.ErrNotDir)
	}
	for name, e := range s.entries {
		if name != "." && path.Dir(name) == dir {
			infos = append(infos, e.FileInfo)
		}
	}
	return provider.Page(infos, opts), nil
}

func (s *store) Rm(_ context.Context, name string, opts workspace.RmOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.find(name); err != nil {
		return err
	}
	for other := range s.entries {
		if strings.HasPrefix(other, name+"/") && !opts.Recursive {
			return workspace.ErrNotEmpty
		}
	}
	maps.DeleteFunc(s.entries, func(other string, _ entry) bool { return strings.HasPrefix(other+"/", name+"/") })
	return nil
}

// The store above is a complete file system inside New.
func ExampleNew() {
	fsys := New()
	if _, err := fsys.WriteFile(context.Background(), "notes/todo.md", []byte("buy milk\n"), nil); err != nil {
		fmt.Println(err)
	}
	names, err := fsys.Glob(context.Background(), "**/*.md", nil)
	fmt.Println(names, err)
	// Output: [notes/todo.md] <nil>
}
