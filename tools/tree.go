package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// treeInput are the parameters of tree.
type treeInput struct {
	Path           string  `json:"path,omitempty" jsonschema:"from the root"`
	Depth          integer `json:"depth,omitempty" jsonschema:"levels"`
	Limit          integer `json:"limit,omitempty" jsonschema:"entries"`
	IncludeIgnored bool    `json:"includeIgnored,omitempty" jsonschema:"also .git and gitignored files"`
}

// treeOutput is the result of tree.
type treeOutput struct {
	Path        string `json:"path" jsonschema:"the directory"`
	Tree        string `json:"tree" jsonschema:"the entries, indented by two spaces for each level"`
	Files       int    `json:"files" jsonschema:"files and symlinks found to that depth"`
	Directories int    `json:"directories" jsonschema:"directories found to that depth"`
	Depth       int    `json:"depth" jsonschema:"the most levels that are shown"`
	Truncated   bool   `json:"truncated" jsonschema:"whether a limit leaves something out: see note"`
	Note        string `json:"note,omitempty" jsonschema:"what is left out"`
}

var treeSpec = spec{
	op: ops.Tree, annotations: Annotations{Title: "Show tree", ReadOnly: true, Idempotent: true}, handler: define(runTree, planTree),
	shape: func(p properties, _ *toolset) {
		p.between("depth", 1, treeDepthMax)
		p.byDefault("depth", treeDepth)
		p.between("limit", 1, treeMax)
		p.byDefault("limit", treeDefault)
	},
}

// runTree asks for one level more than it shows, for the counts.
//
// Two searches find everything, whatever the store: of depth 2, files by {*,*/*,*/*/*} and
// directories by the same with a slash at the end. Both stop at treeScan paths. They pass by a
// directory that cannot be read, so each one that is shown as empty is listed in addition.
func runTree(ctx context.Context, ts *toolset, in *treeInput) (*treeOutput, error) {
	path, err := ts.ws.Clean(ctx, ops.Tree, in.Path)
	if err != nil {
		return nil, err
	}
	depth := int(cmp.Or(in.Depth, treeDepth))
	levels := make([]string, depth+1)
	for i := range levels {
		levels[i] = strings.Repeat("*/", i) + "*"
	}
	pattern := "{" + strings.Join(levels, ",") + "}"
	opts := &workspace.GlobOptions{Dir: path, Limit: treeScan + 1, Gitignore: !in.IncludeIgnored}
	files, err := ts.ws.Glob(ctx, pattern, opts)
	if err != nil {
		return nil, err
	}
	dirs, err := ts.ws.Glob(ctx, pattern+"/", opts)
	if err != nil {
		return nil, err
	}
	files, dirs, end := cutTogether(files, dirs)
	root := newTree(path, files, dirs)
	out := &treeOutput{Path: path, Depth: depth}
	limit := int(cmp.Or(in.Limit, treeDefault))
	left := root.open(depth, limit)
	root.count(depth, out)
	if err := ts.findUnread(ctx, path, root, depth); err != nil {
		return nil, err
	}
	var text strings.Builder
	root.write(&text, "")
	out.Tree = text.String()
	out.Truncated, out.Note = left > 0 || end != "", ts.leftOut(left, limit, end)
	return out, nil
}

func planTree(ctx context.Context, ts *toolset, in *treeInput) ([]policy.Request, error) {
	return ts.touches(ctx, ops.Tree, policy.OpList, in.Path)
}

// cutTogether cuts both sorted lists to those paths that the shorter of two cut lists
// reaches, and returns the last of them, "" if none is cut. Without that, a directory after
// the last file would seem to be empty.
func cutTogether(files, dirs []string) (_, _ []string, end string) {
	for _, list := range [][]string{files, dirs} {
		if len(list) > treeScan && (end == "" || list[treeScan-1] < end) {
			end = list[treeScan-1]
		}
	}
	if end == "" {
		return files, dirs, ""
	}
	upTo := func(list []string) []string {
		n, found := slices.BinarySearch(list, end)
		if found {
			n++
		}
		return list[:n]
	}
	return upTo(files), upTo(dirs), end
}

// findUnread marks the directories below dir that are shown as empty and cannot be read.
//
// Nobody is asked for an approval: a search does not ask either.
func (ts *toolset) findUnread(ctx context.Context, path string, dir *treeNode, depth int) error {
	for _, child := range dir.children[:dir.shown] {
		below := workspace.Join(path, child.name)
		if !child.dir || child.level > depth {
			continue
		}
		if len(child.children) > 0 {
			if err := ts.findUnread(ctx, below, child, depth); err != nil {
				return err
			}
			continue
		}
		_, err := ts.ws.Ls(policy.WithApprover(ctx, nil), below, &workspace.LsOptions{Limit: 1})
		if ended := ctx.Err(); ended != nil {
			return ended
		}
		child.unread = err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, workspace.ErrNotDir)
	}
	return nil
}

// leftOut says what a tree does not show.
func (ts *toolset) leftOut(entries, limit int, end string) string {
	var notes []string
	if entries > 0 {
		note := wording.Count(entries, "entry is", "entries are") + " left out: give a path further down"
		if limit < treeMax {
			note += " or a higher limit"
		}
		notes = append(notes, note+ts.ifTool(ops.Ls, ", or list a directory with %s"))
	}
	if end != "" {
		notes = append(notes, "there is more after "+clip(onOneLine(end), pathChars)+", which was not looked at")
	}
	return strings.Join(notes, "; ")
}

// treeNode is a file or a directory in a tree.
//
// It goes through these steps: newTree builds it, open decides what is shown, count counts
// what there is, shown or not, and write prints it.
type treeNode struct {
	name     string
	dir      bool
	children []*treeNode
	shown    int  // how many of the children are shown, the first ones
	level    int  // below the root of the tree
	unread   bool // a directory that cannot be read
}

// newTree makes the tree of root of the paths of files and directories below it. A directory
// that is missing in dirs is added with the first path below it.
func newTree(root string, files, dirs []string) *treeNode {
	top := &treeNode{dir: true}
	nodes := map[string]*treeNode{root: top}
	var add func(path string, dir bool) *treeNode
	add = func(path string, dir bool) *treeNode {
		if node := nodes[path]; node != nil {
			return node
		}
		parentPath, name := workspace.Split(path)
		parent := add(parentPath, true) // which a policy may hide
		node := &treeNode{name: name, dir: dir, level: parent.level + 1}
		parent.children = append(parent.children, node)
		nodes[path] = node
		return node
	}
	for _, path := range dirs {
		add(path, true)
	}
	for _, path := range files {
		add(path, false)
	}
	for _, node := range nodes {
		slices.SortFunc(node.children, func(a, b *treeNode) int { return strings.Compare(a.name, b.name) })
	}
	return top
}

// open shows directories level by level, each whole or not at all, as long as there
// is room. Of the top, it shows what there is room for. left is how many entries to
// that depth are not shown.
//
// Of a directory a with 300 files and a directory b with two, and a limit of 5,
//
//	a/ (300 files)
//	b/
//	  x
//	  y
//
// a and b take two of the five. a does not fit, so it stays closed, and b gets its two. A
// model can then open what it needs, while a part of a directory would look like the whole.
func (n *treeNode) open(depth, limit int) (left int) {
	room, bytes := limit, listBytes
	for queue := []*treeNode{n}; len(queue) > 0; queue = queue[1:] {
		dir := queue[0]
		if dir.level == depth {
			continue
		}
		size := -len(dir.counts()) // which go when it is open
		for i, child := range dir.children {
			if size += child.size(); i >= room || size > bytes {
				break
			}
			dir.shown = i + 1
		}
		if dir != n && dir.shown < len(dir.children) {
			dir.shown, size = 0, 0
		}
		for _, child := range dir.children[dir.shown:] {
			left += child.entries(depth)
		}
		room -= dir.shown
		bytes -= size
		queue = append(queue, dir.children[:dir.shown]...)
	}
	return left
}

// size is how many bytes the line of the node takes while it is closed. An empty directory may
// turn out to be one that cannot be read.
func (n *treeNode) size() int {
	size := 2*(n.level-1) + len(onOneLine(n.name)) + len("\n")
	if n.dir {
		size += len("/" + cmp.Or(n.counts(), unreadText))
	}
	return size
}

// unreadText follows the name of a directory that cannot be read.
const unreadText = " (cannot be read)"

// entries returns how many entries the node is to that depth, itself included.
func (n *treeNode) entries(depth int) int {
	if n.level > depth {
		return 0
	}
	total := 1
	for _, child := range n.children {
		total += child.entries(depth)
	}
	return total
}

// count adds up what is below the node to that depth. The extra level that runTree has asked
// for is not counted.
func (n *treeNode) count(depth int, out *treeOutput) {
	if n.level == depth {
		return
	}
	for _, child := range n.children {
		if child.dir {
			out.Directories++
		} else {
			out.Files++
		}
		child.count(depth, out)
	}
}

// write writes the lines of the children that are shown.
func (n *treeNode) write(out *strings.Builder, indent string) {
	for _, child := range n.children[:n.shown] {
		out.WriteString(indent + onOneLine(child.name))
		if child.dir {
			out.WriteString("/" + child.counts())
		}
		out.WriteString("\n")
		child.write(out, indent+"  ")
	}
}

// counts says what is in a directory that is not opened. It is empty for an open directory,
// and for an empty one.
func (n *treeNode) counts() string {
	if n.unread {
		return unreadText
	}
	files, dirs := 0, 0
	for _, child := range n.children[n.shown:] {
		if child.dir {
			dirs++
		} else {
			files++
		}
	}
	var parts []string
	if files > 0 {
		parts = append(parts, wording.Count(files, "file", "files"))
	}
	if dirs > 0 {
		parts = append(parts, wording.Count(dirs, "directory", "directories"))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// text is the tree, below a line with its name and counts:
//
//	[src: 9 files, 1 directory, to depth 3]
//	lib/ (7 files)
//	main.go
//	util.go
func (o *treeOutput) text() string {
	text := fmt.Sprintf("[%s: %s, %s, to depth %d]\n%s", onOneLine(o.Path), wording.Count(o.Files, "file", "files"),
		wording.Count(o.Directories, "directory", "directories"), o.Depth, o.Tree)
	if o.Note != "" {
		text += "[" + o.Note + "]\n"
	}
	return strings.TrimSuffix(text, "\n")
}
