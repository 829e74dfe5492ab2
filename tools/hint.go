package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/workspacekit/workspacekit/internal/lines"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// hint says what a model can do about an error.
//
// The first of these counts: a hint that the error carries, a remedy for a person, what the
// tools know about the code and the operation, and the general advice for the code. It is ""
// if there is nothing to say. Looking for a name asks nobody for an approval, and what a
// policy hides is not found.
func (ts *toolset) hint(ctx context.Context, op, path string, code Code, err error) string {
	var hinted *hintedError
	if errors.As(err, &hinted) {
		return hinted.hint
	}
	remedy := ops.RemedyOf(err)
	switch {
	case op == ops.Run && code.Retryable() && !errors.As(err, new(*unstartedError)):
		return runHint(remedy)
	case remedy != "":
		return remedyHint(code, remedy)
	}
	ctx = policy.WithApprover(ctx, nil) // nobody is asked for a hint
	switch code {
	case CodeNotExist:
		return ts.missingHint(ctx, op, path)
	case CodeExist:
		return ts.existsHint(ctx, op, path)
	case CodeIsDir:
		return ts.isDirHint(op)
	case CodeNotDir:
		return ts.notDirHint(ctx, op, path)
	case CodeInvalid:
		return ts.invalidHint(ctx, op, path, err)
	case CodePattern:
		return patternHint(op, path, err)
	case CodeNotEmpty:
		return ts.notEmptyHint(ctx, path)
	case CodeTooLarge:
		return ts.tooLargeHint(op)
	case CodeBinary:
		return "The file is not text and cannot be edited." + ts.ifTool(ops.WriteFile, " It can be replaced as a whole with %s.")
	case CodeConflict:
		return ts.conflictHint(op)
	}
	return adviceOn(code, err)
}

// adviceOn is the general advice for a code. A denial that an approval lifts has its own.
func adviceOn(code Code, err error) string {
	var denied *policy.DeniedError
	switch {
	case errors.Is(err, policy.ErrNoAnswer):
		return notAnswered
	case errors.As(err, &denied) && denied.Decision().Effect == policy.Ask:
		return notApproved
	}
	return advice[code].model
}

// remedyHint is the advice about an error that only a person can do something about, as its
// method Remedy says. A model cannot follow it, and is told to pass it on.
func remedyHint(code Code, remedy string) string {
	if code.Retryable() {
		return "The store does not answer just now. Try the same call again; if that fails too, tell the user: " + remedy + "."
	}
	return "Trying again will not help. Tell the user: " + remedy + "."
}

// runHint is the advice about a command whose end is not known. Unlike other calls, it cannot
// just be made again.
func runHint(remedy string) string {
	hint := "The command may have done some of its work. Look for that before you run it again."
	if remedy != "" {
		hint += " If it fails again, tell the user: " + remedy + "."
	}
	return hint
}

// Hints that are the same for each tool.
const (
	notAnswered = "This needs an approval, and nobody answered. Ask the user, then make the same call again."
	notAllowed  = "This is not allowed here, and trying again will not help. Work elsewhere, or ask the user."
	notApproved = "This needs an approval, which it did not get. Work elsewhere, or ask the user."
	notNow      = "The store does not answer just now. Try the same call again."
	closedHint  = "The workspace is closed, and trying again will not help. Tell the user."
)

// advice is what a model, and a person who sets up a workspace, can do about an error if only
// its code is known. An empty text, and a code that is missing, is no advice.
var advice = map[Code]struct{ model, person string }{
	CodeNotExist:    {"", "Create it, or correct its name in the file."},
	CodePermission:  {notAllowed, "Get the right to do this, or choose another place."},
	CodePolicy:      {notAllowed, ""},
	CodeNoSpace:     {"Nothing was written. Ask the user for space.", "Delete files, or raise the quota of the disk or store."},
	CodeUnsupported: {"This workspace cannot do it. Use another tool.", "Choose a provider that can do this."},
	CodeUnavailable: {notNow, "See that it can be reached, and try again."},
	CodeTimeout:     {notNow, "See that it can be reached, and try again."},
}

// Remedy returns what a person who sets up a workspace can do about an error with
// the code, where the error itself does not say it, and "" if that is not known.
func (c Code) Remedy() string { return advice[c].person }

// existsHint says what exists. It says to remove it only where a patch does: what a call does
// not name stays.
func (ts *toolset) existsHint(ctx context.Context, op, path string) string {
	kind := ts.typeOf(ctx, path)
	isDir := kind == workspace.TypeDirectory
	switch {
	case op == ops.ApplyPatch && kind == "":
		return "Add the file in one part of the patch. Nothing was written."
	case op == ops.ApplyPatch:
		return "It is there already. Update it in place of adding it, delete it in an earlier part of the patch, or choose another name. Nothing was written."
	case op == ops.Mkdir && isDir:
		return "The directory is there already; with recursive that is no error."
	case op == ops.WriteFile && !isDir:
		return "Leave createOnly out to replace the file" + ts.ifTool(ops.EditFile, ", or change a part of it with %s") + "."
	case (op == ops.Move || op == ops.Copy) && isDir:
		return fmt.Sprintf("It is a directory. For a place in it, give the whole new name, such as %s.", onOneLine(workspace.Join(path, "NAME")))
	case isDir:
		return "It is a directory. Choose another name."
	case op == ops.Mkdir && kind == "":
		return "It is there already. Choose another name."
	case op == ops.Mkdir:
		return "It is a file or a symlink. Choose another name."
	}
	return "It is there already, and nothing is replaced. Choose another destination."
}

// isDirHint says what to do with a directory where a file was expected. op decides, as the
// same error means other things to a reader and to a copy.
func (ts *toolset) isDirHint(op string) string {
	if op == ops.Copy {
		return "Set recursive to copy a directory with everything below it."
	}
	return "It is a directory" + ts.ifTool(ops.Ls, ": list it with %s") + "."
}

// notDirHint says what to do with a file where a directory was expected: as the path
// itself, or within it.
func (ts *toolset) notDirHint(ctx context.Context, op, path string) string {
	if op == ops.Ls || op == ops.Glob || op == ops.Tree {
		file, kind := "It", ts.typeOf(ctx, path)
		if kind == workspace.TypeOther {
			return specialHint
		}
		for n := 1; kind == "" && path != "." && n < missingClimb; n++ { // it is below the file
			path, _ = workspace.Split(path)
			file, kind = strconv.Quote(path), ts.typeOf(ctx, path)
		}
		if kind == workspace.TypeFile || kind == workspace.TypeSymlink {
			return file + " is a file" + ts.ifTool(ops.ReadFile, ": read it with %s") + ts.ifTool(ops.Stat, ", or describe it with %s") + "."
		}
	}
	file := "An element of the path"
	if kind := ts.typeOf(ctx, path); kind == workspace.TypeFile || kind == workspace.TypeSymlink {
		file = "It" // of mkdir and run
	}
	return file + " is a file, not a directory" + ts.ifTool(ops.Ls, ": look with %s") + "."
}

// notEmptyHint says how to go on with a directory that is not empty. It can have names that no
// listing shows: then a look at it is of no use.
func (ts *toolset) notEmptyHint(ctx context.Context, path string) string {
	const recursive = "Only recursive removes a directory with everything below it"
	if ts.listsNothing(ctx, path) {
		return recursive + ", also what no listing shows."
	}
	return "It is not empty" + ts.ifTool(ops.Ls, ": see what is in it with %s") + ". " + recursive + "."
}

// leftHint says what a recursive removal has left: a store may remove only what it lists, and
// others may write meanwhile.
func (ts *toolset) leftHint(ctx context.Context, path string) string {
	if ts.listsNothing(ctx, path) {
		return "Names that no listing shows are left. Tell the user."
	}
	return "Some of it is left" + ts.ifTool(ops.Ls, ": see what with %s") + ". It was written meanwhile, or holds names that no listing shows."
}

// listsNothing reports whether a listing of the directory path is empty. It asks nobody for an
// approval.
func (ts *toolset) listsNothing(ctx context.Context, path string) bool {
	shown, err := ts.ws.Ls(policy.WithApprover(ctx, nil), path, &workspace.LsOptions{Limit: 1})
	return err == nil && len(shown) == 0
}

// outsideHint is for a directory that would be moved or copied into itself.
const outsideHint = "Choose a destination outside the directory."

// specialHint is for what is neither a file nor a directory.
const specialHint = "It is a device, a socket or a pipe, which has no content to list, read or write. Leave it alone."

// invalidHint is about the path if that is at fault, or about what it stands for. Of several
// errors, the path is in the first.
func (ts *toolset) invalidHint(ctx context.Context, op, path string, err error) string {
	if all := causes(err); len(all) > 0 {
		err = all[0]
	}
	if errors.Is(err, workspace.ErrEscape) {
		elements := strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune("/{,}", r) }) // also of a glob
		if !slices.Contains(elements, "..") {
			return "A symlink in the path leads out of the workspace. Leave it alone, or ask the user."
		}
		return `Give a path from the root of the workspace, such as src/main.go, that does not leave it with "..".`
	}
	if errors.Is(err, workspace.ErrSymlink) {
		if target, err := ts.ws.Resolve(ctx, path); err == nil && target != path {
			return fmt.Sprintf("No symlink is followed here. Give the name that it stands for: %s.", onOneLine(target))
		}
		return "No symlink is followed here. Give a name without one."
	}
	switch ts.typeOf(ctx, path) {
	case workspace.TypeOther:
		return specialHint
	case workspace.TypeDirectory:
		if op == ops.Move && path != "." { // a move has the name of the source only if it leads below that
			return outsideHint
		}
	case workspace.TypeSymlink:
		if target, err := ts.ws.Resolve(ctx, path); err == nil && ts.typeOf(ctx, target) == workspace.TypeOther {
			return specialHint
		}
		return "It is a symlink that leads back to itself, or through too many others. Leave it alone, or ask the user."
	}
	switch {
	case path == "." && (op == ops.Rm || op == ops.Move):
		return "Give the name of something in it."
	case !ops.ValidName(path):
		return fmt.Sprintf("Give another name: of at most %d bytes, with %d in an element, and without NUL.", ops.MaxNameLength, ops.MaxElementLength)
	}
	return "" // the message says what was wrong
}

// typeOf returns the type of path, and "" if that cannot be told. It does not follow
// symlinks.
func (ts *toolset) typeOf(ctx context.Context, path string) workspace.FileType {
	info, err := ts.ws.Stat(ctx, path)
	if err != nil {
		return ""
	}
	return info.Type
}

const (
	globHint   = "Globs know *, **, ?, [a-z] and {a,b}, and a backslash before a character that stands for itself."
	regexpHint = `Regular expressions are RE2, without backreferences and lookaround. Escape ( ) [ ] { } . * + ? ^ $ | that stand for themselves, as in func \(, or set literal; set multiline to match over lines.`
)

// patternHint says how to write the pattern of an operation.
func patternHint(op, pattern string, err error) string {
	switch {
	case op == ops.Glob:
		return globHint
	case errors.Is(err, lines.ErrLineBreak):
		return "Search for a part of it that is on one line, or set multiline to match over lines."
	case len(pattern) > lines.MaxPattern:
		return "Divide it over several calls, or search for a part of it."
	}
	return regexpHint
}

// tooLargeHint says what to do about a file or a content above the limit. ts.whole is another
// workspace than ts.ws if the limit of the tools is the lower one: then a search can do more.
func (ts *toolset) tooLargeHint(op string) string {
	switch op {
	case ops.WriteFile:
		return "Split the content into several smaller files."
	case ops.ApplyPatch:
		return "Divide the patch, or leave the large file out of it. Nothing was written."
	case ops.EditFile:
		return "Neither the file nor what the edit makes of it may be larger than the limit."
	}
	if ts.whole != ts.ws {
		return fmt.Sprintf("Tools read files of at most %s.", byteSize(wholeBytes)) + ts.ifTool(ops.Grep, " Search it with %s.")
	}
	return "This tool takes no file above the limit." + ts.ifTool(ops.Bash, " Scripts of %s can read and search it.") + " Use smaller files, or ask the user to raise the limit."
}

// conflictHint says what to do about a version that has changed. edit_file has tried
// again by itself.
func (ts *toolset) conflictHint(op string) string {
	if op == ops.EditFile {
		return "Others keep changing the file. Try again later."
	}
	return "The file has changed since it was read, or no longer exists" +
		ts.ifRead(": read it again with %s, and write with the version that returns") + "."
}

// missing reports whether path does not exist.
func (ts *toolset) missing(ctx context.Context, path string) bool {
	_, err := ts.ws.Stat(ctx, path)
	return errors.Is(err, fs.ErrNotExist)
}

// ifTool fills the name of the tool for op into a text, and returns nothing if the set has no
// such tool. format has one %s.
func (ts *toolset) ifTool(op, format string) string {
	if !ts.has(op) {
		return ""
	}
	return fmt.Sprintf(format, ts.name(op))
}

// Bounds of the search for a name that may have been meant.
const (
	missingClimb = 4    // directories that are tried, from the name upwards
	missingNames = 1000 // names that are looked at
)

// missingHint says what a name that does not exist could have been. For a removal it names
// nothing similar: a model that follows the hint would delete a file that nobody has named.
func (ts *toolset) missingHint(ctx context.Context, op, name string) string {
	wanted, base := name, ""
	if op == ops.Mkdir { // only its parent is expected to exist
		wanted, base = workspace.Split(name)
	}
	element, dir, near := ts.nearName(ctx, wanted)
	if dir == "." && ts.rootless(ctx) {
		return "The workspace itself does not exist. Tell the user to create it, and to restart."
	}
	if near == wanted { // it is listed
		if ts.typeOf(ctx, element) == workspace.TypeSymlink {
			return fmt.Sprintf("%q is a symlink whose target does not exist.", element)
		}
		near = ""
	}
	switch {
	case op == ops.Mkdir && near != "":
		return fmt.Sprintf("The parent directory does not exist. Did you mean %q? Set recursive to make what is missing.", workspace.Join(near, base))
	case op == ops.Mkdir:
		return "The parent directory does not exist. Set recursive to make it too."
	case near != "" && op != ops.Rm: // what a call did not name is not for it to remove
		return fmt.Sprintf("Did you mean %q?", near)
	case element != name && strings.HasPrefix(name, "dev/shm/") && ts.hasScratch():
		return "The scratch space has no such file. New outputs take the room of old ones."
	case element != name:
		return fmt.Sprintf("There is no %q either.", element) + ts.lookHint(dir)
	}
	return strings.TrimSpace(ts.lookHint(dir))
}

// rootless reports whether the root does not exist: nothing does then, until the workspace is
// opened again. Stat says nothing about that, as an open folder can be described when it is
// deleted.
func (ts *toolset) rootless(ctx context.Context) bool {
	_, err := ts.ws.Ls(ctx, ".", &workspace.LsOptions{Limit: 1})
	return errors.Is(err, fs.ErrNotExist)
}

// lookHint names the tool that shows what is in dir, with a space before it; empty if
// there is none.
func (ts *toolset) lookHint(dir string) string {
	switch {
	case ts.has(ops.Ls):
		return fmt.Sprintf(" See what is there with %s of %q%s.", ts.name(ops.Ls), dir, ts.ifTool(ops.Glob, ", or find it with %s"))
	case ts.has(ops.Glob):
		return " Find it with " + ts.name(ops.Glob) + "."
	}
	return ""
}

// nearName finds the first element of name that does not exist, the directory to look
// at instead, and the name with its nearest sibling in its place and so on for what
// is below, or "" if there is no such file.
//
// In a workspace with src/main.go,
//
//	name             element       dir    near
//	src/mian.go      src/mian.go   src    src/main.go
//	SRC/Main.go      SRC           src    src/main.go
//	scr/none.txt     scr           src
//	x/y/z.go         x             .
//
// near is name if the element is listed, as a symlink whose target does not exist is. Of a
// large directory only the first names are compared. It climbs a few directories at
// most: a name that is made up would cost a listing for each of its elements.
func (ts *toolset) nearName(ctx context.Context, name string) (element, dir, near string) {
	element = name
	var below []string
	for range missingClimb {
		dir, base := workspace.Split(element)
		sibling, err := ts.closest(ctx, dir, base, len(below) > 0)
		if errors.Is(err, fs.ErrNotExist) && dir != "." {
			element, below = dir, append([]string{base}, below...)
			continue
		}
		if sibling == base {
			return element, dir, name
		}
		for i, base := range below {
			if sibling == "" {
				break
			}
			next, err := ts.closest(ctx, workspace.Join(dir, sibling), base, i+1 < len(below))
			if err != nil {
				return element, dir, ""
			}
			dir, sibling = workspace.Join(dir, sibling), next
		}
		if sibling != "" {
			near = workspace.Join(dir, sibling)
		}
		return element, dir, near
	}
	return element, ".", ""
}

// closest returns the name in dir that is spelled most like base, "" if there is none, among
// those that can have children if parent is set.
func (ts *toolset) closest(ctx context.Context, dir, base string, parent bool) (string, error) {
	children, err := ts.ws.Ls(ctx, dir, &workspace.LsOptions{Limit: missingNames})
	var names []string
	for _, c := range children {
		if !parent || c.Type == workspace.TypeDirectory || c.Type == workspace.TypeSymlink {
			names = append(names, c.Name)
		}
	}
	if slices.Contains(names, base) {
		return base, err
	}
	return wording.Closest(base, names), err
}
