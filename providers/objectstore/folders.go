package objectstore

import (
	"strings"
	"sync"
	"time"

	"github.com/workspacekit/workspacekit/workspace"
)

// maxFolders is how many directories are remembered.
const maxFolders = 1024

// folders remembers directories that have been seen or made a short while ago,
// so that a write does not have to look whether its directory exists and
// whether its own name is a directory. It is safe for concurrent use.
type folders struct {
	ttl time.Duration

	mu    sync.Mutex
	known map[string]*folder // guarded by mu, as what it holds
}

// folder is what is known of a directory.
type folder struct {
	expires time.Time
	marked  bool                // it has a marker
	dirs    map[string]struct{} // the names of the directories in it
	upTo    string              // the last key that dirs is complete for; empty if for none
	whole   bool                // dirs is complete for all keys
}

func newFolders(ttl time.Duration) *folders {
	return &folders{ttl: ttl, known: make(map[string]*folder)}
}

// has reports whether dir is known to exist. The root does.
func (m *folders) has(dir string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return dir == "." || m.get(dir) != nil
}

// get returns what is known of dir, nil if nothing is. m.mu is held.
func (m *folders) get(dir string) *folder {
	known := m.known[dir]
	if known == nil || !time.Now().Before(known.expires) {
		return nil
	}
	return known
}

// holdsFile reports whether a file base of dir can be written without a look:
// dir exists and has no directory of that name.
func (m *folders) holdsFile(dir, base string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.get(dir)
	if known == nil || !known.whole && escape(base)+"/" > known.upTo {
		return false
	}
	_, isDir := known.dirs[base]
	return !isDir
}

// learn remembers the directories in dir, which exists. They are complete up
// to the key upTo in dir, or if that is empty altogether.
func (m *folders) learn(dir string, dirs []string, upTo string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.put(dir)
	known.dirs, known.upTo, known.whole = make(map[string]struct{}, len(dirs)), upTo, upTo == ""
	for _, name := range dirs {
		known.dirs[name] = struct{}{}
	}
}

// exists remembers that dir exists, and so do the directories that it lies in.
func (m *folders) exists(dir string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, dir := range ancestors(dir) {
		m.put(dir)
		parent, base := workspace.Split(dir)
		if known := m.known[parent]; known != nil && known.dirs != nil {
			known.dirs[base] = struct{}{}
		}
	}
}

// put returns what is known of dir, which exists. m.mu is held.
func (m *folders) put(dir string) *folder {
	known := m.get(dir)
	if known == nil {
		m.shrink()
		known = &folder{expires: time.Now().Add(m.ttl)}
		m.known[dir] = known
	}
	return known
}

// shrink makes room for one more: what has expired goes, and if nothing has,
// any other. m.mu is held.
func (m *folders) shrink() {
	if len(m.known) < maxFolders {
		return
	}
	now := time.Now()
	for dir, known := range m.known {
		if now.After(known.expires) {
			delete(m.known, dir)
		}
	}
	for dir := range m.known {
		if len(m.known) < maxFolders {
			return
		}
		delete(m.known, dir)
	}
}

// mark remembers that dir has a marker, and marked reports whether it does.
func (m *folders) mark(dir string) {
	m.exists(dir)
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.get(dir); known != nil {
		known.marked = true
	}
}

func (m *folders) marked(dir string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.get(dir)
	return known != nil && known.marked
}

// forget forgets the directory dir and all below it.
func (m *folders) forget(dir string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.known {
		if name == dir || strings.HasPrefix(name, dir+"/") {
			delete(m.known, name)
		}
	}
	parent, base := workspace.Split(dir)
	if known := m.known[parent]; known != nil {
		delete(known.dirs, base)
	}
}
