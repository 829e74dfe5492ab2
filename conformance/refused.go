package conformance

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
)

// place is what an error must be about: its Op, and one of the names that the
// caller gave. Where a call has two names, either can be at fault.
type place struct {
	op    string
	paths []string
}

// at returns what an error must be about: the operation, and one of the names.
func at(op string, paths ...string) place { return place{op: op, paths: paths} }

// refused fails the case unless err is of kind and about where. format and args
// describe the call, such as "Rm(%q)". An err of nil is a failure.
func (e *env) refused(err, kind error, where place, format string, args ...any) {
	e.Helper()
	call := fmt.Sprintf(format, args...)
	if !errors.Is(err, kind) {
		e.Errorf("%s = %v, want %q", call, err, kind)
		return
	}
	e.checkError(err, where, call)
}

// refusedAny is refused for a call that several kinds are right for: it is
// wrong for two reasons, or may be refused as an operation.
func (e *env) refusedAny(err error, kinds []error, where place, format string, args ...any) {
	e.Helper()
	for _, kind := range kinds {
		if errors.Is(err, kind) {
			e.checkError(err, where, fmt.Sprintf(format, args...))
			return
		}
	}
	e.Errorf("%s = %v, want one of %q", fmt.Sprintf(format, args...), err, kinds)
}

// checkError fails the case unless err has the form that every error has. A log
// finds the operation and the name by the fields, and a model reads the text: a
// path of the host in it shows where the files are, and is a name that no call
// accepts.
func (e *env) checkError(err error, where place, call string) {
	e.Helper()
	var pathError *fs.PathError
	if !errors.As(err, &pathError) {
		e.Errorf("%s = %T (%v), want a *fs.PathError", call, err, err)
		return
	}
	if !where.allows(pathError.Op) {
		e.Errorf("%s = %v with Op %q, want %q", call, err, pathError.Op, where.op)
	}
	if !slices.Contains(where.paths, pathError.Path) {
		e.Errorf("%s = %v with Path %q, want %q", call, err, pathError.Path, where.paths)
	}
	if host := os.TempDir() + string(os.PathSeparator); strings.Contains(err.Error(), host) {
		e.Errorf("%s = %v, want no host path in the text", call, err)
	}
}

// allows reports whether op is right. A created file may report the write that
// it ends in.
func (p place) allows(op string) bool {
	return op == p.op || p.op == ops.Create && op == ops.WriteFile
}
