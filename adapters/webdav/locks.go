package webdav

import (
	"maps"
	"sync"
	"time"

	"golang.org/x/net/webdav"
)

const (
	// maxLocks is how many locks clients can hold.
	maxLocks = 1000
	// maxLockTime is how long a lock lasts that is not refreshed.
	maxLockTime = time.Hour
)

// locks are locks in memory, of bounded number and life. The locks that a request
// has for itself last for ever, and are given back when it ends.
type locks struct {
	webdav.LockSystem
	mu   sync.Mutex
	ends map[string]time.Time // when a lock of a client ends, by its token
}

func newLocks() *locks {
	return &locks{LockSystem: webdav.NewMemLS(), ends: map[string]time.Time{}}
}

// Create implements [webdav.LockSystem].
func (l *locks) Create(now time.Time, details webdav.LockDetails) (token string, err error) {
	if details.Duration < 0 {
		return l.LockSystem.Create(now, details)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.ends, func(_ string, end time.Time) bool { return !now.Before(end) })
	if len(l.ends) >= maxLocks {
		return "", webdav.ErrLocked
	}
	token, err = l.LockSystem.Create(now, details)
	if err == nil {
		l.ends[token] = now.Add(details.Duration)
	}
	return token, err
}

// Refresh implements [webdav.LockSystem].
func (l *locks) Refresh(now time.Time, token string, duration time.Duration) (webdav.LockDetails, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	details, err := l.LockSystem.Refresh(now, token, duration)
	if err == nil {
		l.ends[token] = now.Add(duration)
	}
	return details, err
}

// Unlock implements [webdav.LockSystem].
func (l *locks) Unlock(now time.Time, token string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.LockSystem.Unlock(now, token)
	if err == nil {
		delete(l.ends, token)
	}
	return err
}
