package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/patch"
)

// applyPatch is the program patch, for unified diffs. It applies a patch in one
// transaction of the workspace: all of it, or nothing, and no .orig or .rej files.
// POSIX and GNU's patch apply what fits and leave the rest in .rej files, for somebody
// to merge by hand; a script is better served by a workspace as it was.
//
// There is no fuzz: -F is accepted, and all lines of context must be there. The line
// numbers of a hunk may be wrong, as in GNU's: a hunk is looked for near the place
// where it should be, moved by what earlier hunks added and removed (see
// [patch.Patch.Plan]).
//
//	@@ -3,3 +3,3 @@     the file has a, b, c in the lines 12 to 14: it applies there
//	 a
//	-b                  the file has A, b, c: it does not apply, as a fuzz of 1 would
//	+x                  let it
//	 c
//
// -N, -f, -t and -E are accepted: nothing is ever asked. A patch that has been applied
// already fails.
//
// The steps: rewrite gives the patch the names of the workspace, package patch reads it and
// makes a plan, the hooks of the shell are asked, and the plan is applied. The status is 0,
// 1 if it does not apply, and 2 if it cannot be read.
func applyPatch(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... [ORIGFILE [PATCHFILE]]")
	f.failure = exitUsage
	var r patchRun
	f.IntVarP(&r.strip, "strip", "p", -1, "leave out so many directories of the names in the patch")
	f.BoolVarP(&r.reverse, "reverse", "R", false, "undo the patch")
	dryRun := f.Bool("dry-run", false, "print what would be done, and do nothing")
	input := f.StringP("input", "i", "-", "the file with the patch")
	dir := f.StringP("directory", "d", "", "the directory that the names begin at")
	quiet := f.BoolP("quiet", "s", false, "print nothing but errors")
	f.BoolVar(quiet, "silent", false, "the same as -s")
	for letter, name := range map[string]string{"u": "unified", "N": "forward", "f": "force", "t": "batch", "E": "remove-empty-files"} {
		f.BoolP(name, letter, false, "(ignored)")
	}
	f.Bool("verbose", false, "(ignored)")
	f.Bool("no-backup-if-mismatch", false, "(ignored: there are no such files)")
	f.IntP("fuzz", "F", 0, "(ignored: the lines of context must be there)")
	names, status, ok := f.parse()
	if !ok {
		return status
	}
	if len(names) > 2 {
		return f.wrong("extra operand '%s'", names[2])
	}
	if len(names) == 2 {
		*input = names[1]
	}
	if len(names) > 0 {
		r.file = names[0]
	}
	if *dir != "" {
		info, err := p.Stat(ctx, *dir)
		if err == nil && !info.IsDir() {
			err = workspace.ErrNotDir
		}
		if err != nil {
			p.errorf("**** Can't change to directory %s : %s", *dir, ErrorText(err))
			return exitUsage
		}
		// From here on, names begin at -d, and so does that of -i: GNU's patch changes its
		// directory before it does anything else.
		there := *p
		there.Dir = p.Files.Absolute(ctx, p.Dir, *dir)
		p = &there
	}
	r.p, r.dir = p, p.Dir
	var text []byte
	err := p.input(ctx, *input, func(in *Input) (err error) {
		text, err = readBounded(ctx, p, in)
		return err
	})
	if err != nil {
		p.errorf("**** Can't open patch file %s : %s", *input, ErrorText(err))
		return exitUsage
	}
	// An empty patch, as from a diff of equal files, is no error.
	if len(text) == 0 {
		return 0
	}
	changes, err := r.apply(ctx, string(text), *dryRun)
	if err != nil {
		return r.fail(err)
	}
	if !*quiet {
		r.print(changes, *dryRun)
	}
	return 0
}

// patchRun is one run of patch.
type patchRun struct {
	p       *Process
	dir     string               // absolute
	file    string               // the file that is patched, whatever the patch says
	strip   int                  // -1: only the last element of a name counts
	reverse bool                 // -R: the patch is taken back
	ws      *workspace.Workspace // that all files of the patch are in
}

// fail prints why a patch was not applied: all hunks that do not fit, and not just the
// first.
//
// A patch that is malformed has the status 2, as GNU's "Only garbage was found" has.
// Everything else is 1.
func (r *patchRun) fail(err error) int {
	var bad *patch.SyntaxError
	if errors.As(err, &bad) {
		r.p.errorf("**** %v", err)
		return exitUsage
	}
	causes := []error{err}
	var all *patch.Error
	if errors.As(err, &all) {
		causes = all.Causes
	}
	for _, cause := range causes {
		r.p.errorf("%v", cause)
	}
	r.p.errorf("nothing has been changed")
	return 1
}

// apply applies a patch, or only plans it. The hooks of the shell, which can refuse a
// change, are asked about each file before the first one is written.
//
// With dryRun neither is a hook asked nor anything written, and the result is what would be
// done. Otherwise it is what was done, with the new versions. With an error, nothing has
// been changed. A hook that refuses one file refuses the whole patch.
func (r *patchRun) apply(ctx context.Context, text string, dryRun bool) ([]patch.Change, error) {
	text, err := r.rewrite(ctx, text)
	if err != nil {
		return nil, err
	}
	parsed, err := patch.Parse(text)
	if err != nil {
		return nil, err
	}
	if r.ws == nil { // there is nothing in the patch
		return nil, &patch.SyntaxError{Reason: "Only garbage was found in the patch input."}
	}
	plan, err := parsed.Plan(ctx, r.ws)
	if err != nil || dryRun {
		if err == nil {
			return plan.Changes(), nil
		}
		return nil, err
	}
	for _, change := range plan.Changes() {
		if err := r.ask(ctx, change); err != nil {
			return nil, err
		}
	}
	changes, err := plan.Apply(ctx)
	if err != nil {
		return nil, err
	}
	for _, change := range changes {
		r.tell(ctx, change)
	}
	return changes, nil
}

// ask asks the hook of the shell about a change. A rename is two: its target is written
// and its source deleted.
//
// info is nil for a file that the patch creates.
func (r *patchRun) ask(ctx context.Context, change patch.Change) error {
	at := Location{r.ws, change.Path}
	var info *workspace.FileInfo
	if found, err := r.ws.Stat(ctx, change.Path); err == nil {
		info = &found
	}
	op := ops.WriteFile
	if change.Kind == patch.Deleted {
		op = ops.Rm
	}
	if err := r.p.Files.change(ctx, op, at, info); err != nil || change.Kind != patch.Renamed {
		return err
	}
	found, err := r.ws.Stat(ctx, change.From)
	if err != nil {
		return err
	}
	return r.p.Files.change(ctx, ops.Rm, Location{r.ws, change.From}, &found)
}

// tell informs the hook of the shell about a change that has been made.
//
// A file that was written has a version, and one that was deleted has none.
func (r *patchRun) tell(ctx context.Context, change patch.Change) {
	at := Location{r.ws, change.Path}
	if change.Kind == patch.Deleted {
		r.p.Files.changed(ctx, ops.Rm, at, Location{}, "")
		return
	}
	if change.Kind == patch.Renamed {
		r.p.Files.changed(ctx, ops.Rm, Location{r.ws, change.From}, Location{}, "")
	}
	r.p.Files.changed(ctx, ops.WriteFile, at, Location{}, change.Version)
}

// print prints the files that are patched.
//
// Names are those from the working directory, where they are below it.
func (r *patchRun) print(changes []patch.Change, dryRun bool) {
	verb := "patching"
	if dryRun {
		verb = "checking"
	}
	for _, change := range changes {
		name := change.Path
		if at, err := r.p.Files.Locate(context.Background(), r.dir, "."); err == nil {
			name = relativeTo(at.Name, change.Path)
		}
		note := ""
		if change.Kind == patch.Renamed || change.Kind == patch.Copied {
			note = fmt.Sprintf(" (%s from %s)", map[patch.Kind]string{patch.Renamed: "renamed", patch.Copied: "copied"}[change.Kind], change.From)
		}
		fmt.Fprintf(r.p.Stdout, "%s file %s%s\n", verb, name, note)
	}
}

// The lines of a patch that name a file, and those that begin a hunk. A count that is
// left out is 1.
var (
	patchName = lazyregexp.New(`^(--- |\+\+\+ |rename from |rename to |copy from |copy to )("(?:[^"\\]|\\.)*"|[^\t\r\n]*)(?:[\t\r ]|$)`)
	notText   = lazyregexp.New(`^(new file mode |deleted file mode |GIT binary patch\r?$|Binary files .* differ\r?$)`)
	hunkHead  = lazyregexp.New(`^@@ -(\d+(?:,(\d+))?) \+(\d+(?:,(\d+))?) @@(.*)$`)
)

// rewrite returns the patch with the names that the files have in the workspace, and
// with -R the other way round. Package patch knows neither -p nor working directories,
// and applies in one direction. With -R -p1 in the directory d:
//
//	--- a/x.go          --- a/d/x.go
//	+++ b/x.go          +++ b/d/x.go
//	@@ -1 +1,2 @@       @@ -1,2 +1 @@
//	 one                 one
//	+two                -two
//
// Lines are only read as names between hunks: the counts of a hunk's head say how many
// lines belong to it, as "--- a" in it may be a deleted line "-- a".
//
// r.ws is the workspace of the files afterwards, and nil if no file is named. Lines such as
// "index" become empty, so that the numbers of lines in errors of package patch are right.
//
// An error is a [*patch.SyntaxError] or one of head.
func (r *patchRun) rewrite(ctx context.Context, text string) (string, error) {
	var b strings.Builder
	oldLines, newLines := 0, 0 // that are left in a hunk
	git, textless := false, 0  // from "diff --git" to "---"; the line about a file that may have no ---, from 1
	named := r.file == ""      // a file was named before the hunks, or must be
	all := strings.SplitAfter(strings.TrimSuffix(text, "\n")+"\n", "\n")
	for i := 0; i < len(all); i++ {
		line := strings.TrimSuffix(all[i], "\n")
		// "\ No newline at end of file" may follow the last line of a hunk, when both
		// counts are zero.
		if oldLines > 0 || newLines > 0 || strings.HasPrefix(line, `\`) {
			line = r.hunkLine(line, &oldLines, &newLines)
			b.WriteString(line + "\n")
			continue
		}
		if m := hunkHead().FindStringSubmatch(line); m != nil {
			if !named { // GNU's patch needs no names then
				head, err := r.head(ctx, r.file, r.file)
				if err != nil {
					return "", err
				}
				b.WriteString(head)
				named = true
			}
			oldLines, newLines = count1(m[2]), count1(m[4])
			if r.reverse {
				line = fmt.Sprintf("@@ -%s +%s @@%s", m[3], m[1], m[5])
			}
			b.WriteString(line + "\n")
			continue
		}
		m := patchName().FindStringSubmatch(line)
		switch {
		case m == nil:
			if git && notText().MatchString(line) {
				textless = i + 1
			}
			if strings.HasPrefix(line, "diff --git ") {
				if err := noText(textless); err != nil {
					return "", err
				}
				git = true
			}
			// Other lines have the names of "diff --git", but for a mode alone.
			if strings.HasPrefix(line, "diff --git ") || strings.HasPrefix(line, "index ") || strings.HasPrefix(line, "similarity ") || strings.Contains(line, " mode ") && r.reverse {
				line = ""
			}
			b.WriteString(line + "\n")
		case m[1] == "--- " && i+1 < len(all):
			next := patchName().FindStringSubmatch(strings.TrimSuffix(all[i+1], "\n"))
			if next == nil || next[1] != "+++ " {
				return "", &patch.SyntaxError{Line: i + 1, Reason: "a line that begins with --- has no line after it that begins with +++"}
			}
			head, err := r.head(ctx, unquoted(m[2]), unquoted(next[2]))
			if err != nil {
				return "", err
			}
			b.WriteString(head)
			named, git, textless = true, false, 0
			i++
		case m[1] == "--- " || m[1] == "+++ ":
			b.WriteString(line + "\n")
		default:
			return "", &patch.SyntaxError{Line: i + 1, Reason: "renames and copies are not possible here; use mv and cp"}
		}
	}
	return b.String(), noText(textless)
}

// noText is the error of a file that git writes no lines --- and +++ of, and nil for line 0.
func noText(line int) error {
	if line == 0 {
		return nil
	}
	return &patch.SyntaxError{Line: line, Reason: "an empty or binary file, without lines --- and +++: only text is patched; use touch, cp or rm"}
}

// unquoted returns a name that git has put in quotes: "a/caf\303\251" is a/café.
func unquoted(name string) string {
	if plain, err := strconv.Unquote(name); err == nil && name[0] == '"' {
		return plain
	}
	return name
}

// hunkLine returns a line of a hunk, and counts it.
//
// A line that begins with anything else is not counted, and package patch reports it.
func (r *patchRun) hunkLine(line string, oldLines, newLines *int) string {
	if line == "" {
		line = " " // whose space an editor has removed
	}
	switch line[0] {
	case '-':
		if *oldLines--; r.reverse {
			return "+" + line[1:]
		}
	case '+':
		if *newLines--; r.reverse {
			return "-" + line[1:]
		}
	case ' ':
		*oldLines--
		*newLines--
	}
	return line
}

// count1 returns the number of lines in the head of a hunk, where none means one.
func count1(digits string) int {
	n := 1
	if digits != "" {
		fmt.Sscan(digits, &n)
	}
	return n
}

// head returns the two lines with the name of a file.
//
// It sets r.ws. Errors are those of Locate, [workspace.ErrIsDir] for the directory of the
// workspaces, [ErrCrossWorkspace], and one for a name with too few directories. /dev/null
// stays on its side, where it says that the file is created or deleted. All files must be
// in one workspace, as the patch is one transaction there.
func (r *patchRun) head(ctx context.Context, old, now string) (string, error) {
	if r.reverse {
		old, now = now, old
	}
	name := r.choose(ctx, old, now)
	if name == "" {
		return "", fmt.Errorf("%s has fewer directories than -p%d leaves out", old, r.strip)
	}
	at, err := r.p.Files.Locate(ctx, r.dir, name)
	switch {
	case err != nil:
		return "", err
	case at.Workspace == nil:
		return "", &fs.PathError{Op: "patch", Path: name, Err: workspace.ErrIsDir}
	case r.ws != nil && r.ws != at.Workspace:
		return "", &fs.PathError{Op: "patch", Path: name, Err: ErrCrossWorkspace}
	}
	r.ws = at.Workspace
	side := func(prefix, side string) string {
		if side == "/dev/null" {
			return side
		}
		if strings.ContainsAny(at.Name, "\t\r\n") {
			return strconv.Quote(prefix + at.Name)
		}
		return prefix + at.Name
	}
	return fmt.Sprintf("--- %s\n+++ %s\n", side("a/", old), side("b/", now)), nil
}

// choose returns the name of the file that is patched. A name on the command line wins;
// of the two names in the patch it is the one that is not /dev/null, and then the old
// one if that file exists. GNU's patch prefers the shortest, which differs for .orig
// names only.
//
// "" says that the name has too few directories for -p. old and now are in the direction of
// the patch, after -R.
func (r *patchRun) choose(ctx context.Context, old, now string) string {
	if r.file != "" {
		return r.file
	}
	if old == "/dev/null" {
		return r.stripped(now)
	}
	name := r.stripped(old)
	if now == "/dev/null" || name == r.stripped(now) {
		return name
	}
	if _, err := r.p.Files.Stat(ctx, r.dir, name); err != nil {
		return r.stripped(now)
	}
	return name
}

// stripped returns a name without its first directories, "" if it has too few. Several
// slashes in a row count once, as in POSIX. Without -p, only the last element counts.
//
// Of /usr//src/a.go:
//
//	-p0    /usr//src/a.go        -p2     src/a.go
//	-p1    usr//src/a.go         none    a.go
func (r *patchRun) stripped(name string) string {
	if r.strip < 0 {
		return path.Base(name)
	}
	for range r.strip {
		_, rest, found := strings.Cut(name, "/")
		if !found {
			return ""
		}
		name = strings.TrimLeft(rest, "/")
	}
	return name
}
