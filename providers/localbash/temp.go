package localbash

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/workspacekit/workspacekit/workspace"
)

const (
	// maxTempAge is how old a temporary file is when its writer is taken for
	// dead, where there are no locks to tell.
	maxTempAge = time.Hour
	// maxTempAttempts bounds how often a temporary file is lost to someone who
	// takes it for a leftover before it is locked.
	maxTempAttempts = 100
)

// lockState is what is known of a lock after an attempt to take it.
type lockState int

const (
	lockUnknown lockState = iota // there are no locks here
	lockHeld                     // it is ours now
	lockTaken                    // someone else has it
)

// createTemp creates a temporary file in d. It is locked while it is open,
// which tells everyone that its writer lives.
func (d *folder) createTemp(perm fs.FileMode) (*os.File, string, error) {
	for range maxTempAttempts {
		name := workspace.ReservedPrefix + rand.Text()
		file, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, "", errOvertaken
		}
		if err != nil {
			return nil, "", err
		}
		if state, err := d.claim(file, name); err == nil && state != lockTaken {
			return file, name, nil
		}
		file.Close()
	}
	return nil, "", errOvertaken
}

// claim locks the file that was created as name. It is taken if somebody else
// was faster, who took it for a leftover.
func (d *folder) claim(file *os.File, name string) (lockState, error) {
	state, err := tryLock(file)
	if err == nil && !d.has(name, file) {
		state = lockTaken
	}
	return state, err
}

// has reports whether name is still the open file.
func (d *folder) has(name string, file *os.File) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := d.root.Lstat(name)
	return err == nil && os.SameFile(opened, named)
}

// noted are the temporary files that listings have met, by the names of their
// folders, for the next change of the folder to remove those that dead
// processes have left. The zero noted is ready; it is safe for concurrent use.
type noted struct {
	count atomic.Int64 // of names, so that those who find none need no lock
	mu    sync.Mutex
	names map[string][]string // guarded by mu
}

// maxNoted is how many names are kept. Others have to be met again.
const maxNoted = 1000

// note takes names for all temporary files of dir.
func (n *noted) note(dir string, names []string) {
	if len(names) == 0 && n.count.Load() == 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	others := int(n.count.Load()) - len(n.names[dir])
	names = names[:min(len(names), maxNoted-others)]
	n.count.Store(int64(others + len(names)))
	if n.names == nil {
		n.names = map[string][]string{}
	}
	n.names[dir] = names
	if len(names) == 0 {
		delete(n.names, dir)
	}
}

// take returns the names that were noted of dir, and forgets them.
func (n *noted) take(dir string) []string {
	if n.count.Load() == 0 {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	names := n.names[dir]
	delete(n.names, dir)
	n.count.Add(-int64(len(names)))
	return names
}

// sweep removes those of the temporary files in d whose writers are dead. It
// is best effort: what cannot be removed stays hidden.
func (d *folder) sweep(names []string) {
	for _, name := range names {
		if d.isLeftover(name) {
			d.removeLeftover(name)
		}
	}
}

// isLeftover reports whether name may be a temporary file of ours, and not
// some other thing with that prefix.
func (d *folder) isLeftover(name string) bool {
	if name != lockName && len(strings.TrimPrefix(name, workspace.ReservedPrefix)) != len(rand.Text()) {
		return false
	}
	info, err := d.root.Lstat(name)
	return err == nil && info.Mode().IsRegular()
}

// removeLeftover removes name if it gets the lock of it: then no writer has.
func (d *folder) removeLeftover(name string) {
	// Over NFS only a file that is open for writing can be locked.
	file, err := d.root.OpenFile(name, os.O_WRONLY|readFlags, 0)
	if errors.Is(err, fs.ErrPermission) {
		file, err = d.root.OpenFile(name, readFlags, 0)
	}
	if err != nil {
		return
	}
	defer file.Close()
	state, err := tryLock(file)
	if err != nil || state == lockTaken {
		return
	}
	// While the lock is ours nobody else removes the file, but its writer may
	// have done so before.
	if d.has(name, file) && (state == lockHeld || isOld(file)) {
		_ = d.root.Remove(name)
	}
	unlockFile(file)
}

func isOld(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && time.Since(info.ModTime()) > maxTempAge
}
