package compare

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// step is one operation of a sequence. names and patterns are empty where a
// call cannot be wrong for several reasons: isReason then excuses no
// difference.
type step struct {
	text     string
	names    []string                          // that an error can be about
	patterns []string                          // the same for patterns and globs
	nonsense bool                              // its options are not valid
	needs    func(workspace.Capabilities) bool // nil if every file system can do it
	ended    bool                              // its context has ended before
	do       func(ctx context.Context, s *side) (any, error)
}

// compare does the step on both sides and returns how they differ, "" if they
// do not.
//
// What the file system does not declare it must refuse, and the reference then
// leaves out.
//
// A difference of errors is excused if both have the same Op and the error of
// the file system is true in the reference as well. With a directory "d":
//
//	Move("none", "d")   reference:   ErrNotExist, "none"
//	                    file system: ErrExist, "d"
//
// The reference has the directory, so ErrExist is right, too. ErrExist for
// "none" would be a difference.
func (step step) compare(t *testing.T, want, got *side) string {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if step.ended {
		cancel()
	}
	if step.needs != nil && step.needs(want.caps) && !step.needs(got.caps) {
		if o := got.do(ctx, step); !o.refuses() {
			return fmt.Sprintf("it is not among the capabilities, and returns %+v", o)
		}
		return ""
	}
	w, g := want.do(ctx, step), got.do(ctx, step)
	diff := cmp.Diff(w, g)
	switch {
	case len(w.Faults) > 0 || len(g.Faults) > 0:
		return fmt.Sprintf("faults of the reference: %q\nfaults of the file system: %q", w.Faults, g.Faults)
	case diff != "" && w.Error.Op != "" && w.Error.Op == g.Error.Op && step.isReason(ctx, want.fsys, g.Error):
		return ""
	}
	return diff
}

// isReason reports whether f is true in reference, too: a call that is wrong
// for several reasons may report any of them. The reasons are a negative number
// or the like, a pattern that is malformed by itself, and what is wrong with
// the name that f is about. The kinds must be exactly the same.
func (step step) isReason(ctx context.Context, reference workspace.FileSystem, f failure) bool {
	var reasons []error
	if step.nonsense {
		reasons = append(reasons, fs.ErrInvalid)
	}
	if slices.Contains(step.patterns, f.Path) {
		_, globErr := reference.Glob(ctx, strings.TrimPrefix(f.Path, "/"), nil)
		_, grepErr := reference.Grep(ctx, f.Path, nil)
		reasons = append(reasons, globErr, grepErr)
	}
	if slices.Contains(step.names, f.Path) {
		reasons = append(reasons, nameReasons(ctx, reference, f.Path)...)
	}
	return slices.ContainsFunc(reasons, func(err error) bool { return err != nil && slices.Equal(kindsOf(err), f.Kinds) })
}

// nameReasons are the errors that an operation may have for name. A directory
// can be in the way of a new name, or of a read, or not be empty; a file can be
// in the way of a new name, or be used as a directory.
func nameReasons(ctx context.Context, reference workspace.FileSystem, name string) []error {
	info, err := reference.Stat(ctx, name)
	switch {
	case err != nil:
		return []error{err}
	case info.IsDir():
		return []error{fs.ErrExist, workspace.ErrIsDir, workspace.ErrNotEmpty}
	}
	return []error{fs.ErrExist, workspace.ErrNotDir}
}

// answer is what an operation returned, without what two file systems may
// choose: the strings of versions, times, and the texts of errors. Two answers
// are compared with cmp, so every field counts. Faults are breaches that one
// side shows by itself, and fail the step whatever the other did.
type answer struct {
	Result any     // nil if the operation failed
	Error  failure // zero if it did not
	Faults []string
}

// failure is an error. Kinds has the name of every kind that errors.Is finds,
// in the order of errorKinds: ErrEscape comes with ErrInvalid. Op and Path are
// empty if it is no *fs.PathError.
type failure struct {
	Kinds    []string
	Op, Path string
}

// refuses reports whether a is an error. Which one is for the cases of the suite
// to test: a call may be wrong for another reason, too.
func (a answer) refuses() bool { return len(a.Error.Kinds) > 0 && len(a.Faults) == 0 }

// side is one of the two file systems of a comparison, and what is known about
// it. It is for one sequence.
type side struct {
	fsys     workspace.FileSystem // the reference, or what is compared with it
	caps     workspace.Capabilities
	versions versionLog
	symlink  func(target, name string) // nil if there are no symlinks
	faults   []string                  // of the step that is being done
}

// newSide returns one of the two file systems that are compared.
func (c *Comparison) newSide(t *testing.T, newFS func(t *testing.T) workspace.FileSystem) *side {
	t.Helper()
	fsys := newFS(t)
	s := &side{fsys: fsys, caps: workspace.CapabilitiesOf(fsys), versions: newVersionLog()}
	if c.symlink != nil {
		s.symlink = func(target, name string) { c.symlink(t, fsys, target, name) }
	}
	return s
}

// do does the step. A panic is an answer, too, so that its sequence becomes
// known.
func (s *side) do(ctx context.Context, step step) (a answer) {
	s.faults = nil
	defer func() {
		if p := recover(); p != nil {
			a.Faults = append(s.faults, fmt.Sprintf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	result, err := step.do(ctx, s)
	if err != nil {
		return answer{Error: s.failureOf(err), Faults: s.faults}
	}
	return answer{Result: result, Faults: s.faults}
}

// fault notes a breach of the contract that one side alone shows.
func (s *side) fault(format string, args ...any) {
	s.faults = append(s.faults, fmt.Sprintf("%T: ", s.fsys)+fmt.Sprintf(format, args...))
}

// errorKinds are the kinds that are compared. Errors that differ only in a kind
// that is not among them look alike.
var errorKinds = []struct {
	name string
	kind error
}{
	{"ErrNotExist", fs.ErrNotExist}, {"ErrExist", fs.ErrExist}, {"ErrPermission", fs.ErrPermission},
	{"ErrInvalid", fs.ErrInvalid}, {"ErrClosed", fs.ErrClosed}, {"ErrUnsupported", errors.ErrUnsupported},
	{"ErrIsDir", workspace.ErrIsDir}, {"ErrNotDir", workspace.ErrNotDir}, {"ErrNotEmpty", workspace.ErrNotEmpty},
	{"ErrConflict", workspace.ErrConflict}, {"ErrTooLarge", workspace.ErrTooLarge}, {"ErrBinary", workspace.ErrBinary},
	{"ErrEscape", workspace.ErrEscape}, {"ErrPattern", workspace.ErrPattern}, {"ErrUnavailable", workspace.ErrUnavailable},
	{"ErrPolicy", workspace.ErrPolicy}, {"ErrSymlink", workspace.ErrSymlink}, {"ErrNoSpace", workspace.ErrNoSpace}, {"Canceled", context.Canceled}, {"DeadlineExceeded", context.DeadlineExceeded},
	{"errWalk", errWalk},
}

// kindsOf returns the names of the kinds of err, or its text if it has none.
// The text makes an error of no kind a difference, unless both sides have the
// same one.
func kindsOf(err error) []string {
	var kinds []string
	for _, k := range errorKinds {
		if errors.Is(err, k.kind) {
			kinds = append(kinds, k.name)
		}
	}
	if kinds == nil {
		return []string{"none: " + err.Error()}
	}
	return kinds
}

// failureOf returns the part of an error that must be the same on both sides.
func (s *side) failureOf(err error) failure {
	f := failure{Kinds: kindsOf(err)}
	if host := os.TempDir() + string(os.PathSeparator); strings.Contains(err.Error(), host) {
		s.fault("the error %q shows a path of the host", err)
	}
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		f.Op, f.Path = pathError.Op, pathError.Path
	}
	// What ends a Create may be the write.
	if f.Op == ops.Create {
		f.Op = ops.WriteFile
	}
	return f
}

// entry is a FileInfo without what two file systems may choose.
type entry struct {
	Name, Path string
	Type       workspace.FileType
	Size       int64
}

// entry notes the version of info and returns the rest.
func (s *side) entry(info workspace.FileInfo) entry {
	if info.Type != workspace.TypeFile && info.Version != "" {
		s.fault("%s %q has the version %q", info.Type, info.Path, info.Version)
	}
	if info.Type == workspace.TypeFile {
		s.saw(info.Path, info.Version)
	}
	return entry{info.Name, info.Path, info.Type, info.Size}
}

// entries is a list of them. Nil is another list than an empty one, as it is in
// JSON. The versions of all are noted.
func (s *side) entries(infos []workspace.FileInfo) []entry {
	if infos == nil {
		return nil
	}
	list := []entry{}
	for _, info := range infos {
		list = append(list, s.entry(info))
	}
	return list
}

// cleaned returns the name that a file system which cleans names makes of name.
// The log of versions has one entry for a file by it, however the name was
// spelled. A name that cannot be cleaned is returned as it is.
func cleaned(name string) string {
	if clean, err := workspace.CleanName("", name); err == nil {
		return clean
	}
	return name
}

// scribbled returns data as a string and changes data, which is the caller's.
// Bytes that a side has kept for itself are then wrong, and a later read shows
// it.
func scribbled(data []byte) string {
	content := string(data)
	for i := range data {
		data[i] = '!'
	}
	return content
}
