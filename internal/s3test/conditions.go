package s3test

import (
	"net/http"
	"strings"
	"time"
)

// matches reports whether an ETag that a request names is that of o.
func (o *object) matches(etag string) bool {
	return etag == "*" || strings.Trim(etag, `"`) == strings.Trim(o.etag, `"`)
}

// unmet is a condition that does not hold.
type unmet struct {
	name        string
	notModified bool // a GET is answered that nothing has changed
}

// checkRead tests the conditions about o in the headers that begin with
// prefix. A condition on the ETag outdoes the one on the time beside it, and a
// time that is still to come is none.
func (c *call) checkRead(o *object, prefix string, now time.Time) *unmet {
	value := func(name string) string { return c.header(prefix + name) }
	if match := value("If-Match"); match != "" {
		if !o.matches(match) {
			return &unmet{name: "If-Match"}
		}
	} else if t, err := http.ParseTime(value("If-Unmodified-Since")); err == nil && o.modified.After(t) {
		return &unmet{name: "If-Unmodified-Since"}
	}
	if noneMatch := value("If-None-Match"); noneMatch != "" {
		if o.matches(noneMatch) {
			return &unmet{name: "If-None-Match", notModified: true}
		}
	} else if t, err := http.ParseTime(value("If-Modified-Since")); err == nil && !o.modified.After(t) && !t.After(now) {
		return &unmet{name: "If-Modified-Since", notModified: true}
	}
	return nil
}

// checkWrite tests the conditions on what the key holds, nil for nothing,
// before it is written.
func (s *Server) checkWrite(c *call, held *object, ignore bool) error {
	match, noneMatch := c.header("If-Match"), c.header("If-None-Match")
	switch {
	case s.opts.IgnoreConditions || ignore:
		return nil
	case s.opts.RefuseConditions && match != "":
		return notImplemented("If-Match")
	case s.opts.RefuseConditions && noneMatch != "", noneMatch != "" && noneMatch != "*", match != "" && noneMatch != "":
		return notImplemented("If-None-Match")
	case noneMatch != "" && held != nil:
		return preconditionFailed("If-None-Match")
	case match != "" && held == nil:
		return noSuchKey(c.key())
	case match != "" && !held.matches(match):
		return preconditionFailed("If-Match")
	}
	return nil
}

// checkDelete tests the condition that etag states on what is deleted; empty
// states none. What does not exist matches nothing.
func (s *Server) checkDelete(held *object, etag string) error {
	switch {
	case etag == "" || s.opts.IgnoreConditions || s.opts.IgnoreDeleteConditions:
		return nil
	case s.opts.RefuseConditions:
		return notImplemented("If-Match")
	case held == nil || !held.matches(etag):
		return preconditionFailed("If-Match")
	}
	return nil
}
