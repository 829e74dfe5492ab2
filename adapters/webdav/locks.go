package webdav

import (
	"fmt"
	"maps"
	"path"
	"sync"
	"time"

	"golang.org/x/net/webdav"
)

const (
	// maxLocks is how many locks clients can hold.
	maxLocks = 1000
	// maxLockTime is how long a lock lasts that is not refreshed.
	maxLockTime = time.Hour
	// maxRequestWait is how long a request waits for another one that changes the same
	// name: one that moves two names may itself wait for this one.
	maxRequestWait = 5 * time.Second
)

// errTooManyLocks is the error of a lock beyond maxLocks.
var errTooManyLocks = fmt.Errorf("clients hold %d locks, which is the limit: give one back", maxLocks)

// requestLocks are the locks as one request uses them, which learns what went wrong, and
// how to give back the last one.
type requestLocks struct {
	webdav.LockSystem
	req *request
}

// Create implements [webdav.LockSystem].
func (l requestLocks) Create(now time.Time, details webdav.LockDetails) (token string, err error) {
	token, err = l.LockSystem.Create(now, details)
	l.req.unlock = func() { _ = l.LockSystem.Unlock(now, token) }
	return token, l.req.note(err)
}

// locks are locks in memory, of bounded number and life. The locks that a request
// has for itself last for ever, and are given back when it ends.
type locks struct {
	webdav.LockSystem
	mu       sync.Mutex              // guards what follows
	ends     map[string]time.Time    // when a lock of a client ends, by its token
	requests map[string]*requestLock // by name
}

// requestLock is the lock that a request has for itself.
type requestLock struct {
	token string
	ended chan struct{} // closed when it is given back
}

// newLocks returns locks that nobody holds.
func newLocks() *locks {
	return &locks{LockSystem: webdav.NewMemLS(), ends: map[string]time.Time{}, requests: map[string]*requestLock{}}
}

// Create implements [webdav.LockSystem].
func (l *locks) Create(now time.Time, details webdav.LockDetails) (token string, err error) {
	if details.Duration < 0 {
		return l.createForRequest(now, details)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.ends, func(_ string, end time.Time) bool { return !now.Before(end) })
	if len(l.ends) >= maxLocks {
		return "", errTooManyLocks
	}
	token, err = l.LockSystem.Create(now, details)
	if err == nil {
		l.ends[token] = now.Add(details.Duration)
	}
	return token, err
}

// createForRequest waits for another request that has the name: clients that upload
// a tree have several create the same directory.
func (l *locks) createForRequest(now time.Time, details webdav.LockDetails) (token string, err error) {
	name := path.Clean("/" + details.Root)
	late := time.NewTimer(maxRequestWait)
	defer late.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		token, err = l.LockSystem.Create(now, details)
		if err == nil {
			l.requests[name] = &requestLock{token, make(chan struct{})}
			return token, nil
		}
		other := l.requests[name]
		if other == nil {
			return "", err
		}
		l.mu.Unlock()
		select {
		case <-other.ended:
			now = time.Now()
			l.mu.Lock()
		case <-late.C:
			l.mu.Lock()
			return "", err
		}
	}
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
	if err != nil {
		return err
	}
	delete(l.ends, token)
	maps.DeleteFunc(l.requests, func(_ string, r *requestLock) bool {
		if r.token == token {
			close(r.ended)
		}
		return r.token == token
	})
	return nil
}
