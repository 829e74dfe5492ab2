package conformance

import (
	"errors"
	"io"
	"io/fs"
	"reflect"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// capabilityCases try each capability: what is declared works, what is not
// declared is refused and changes nothing. Package tools offers a model what is
// declared. A capability that is declared and does not work costs the model its
// turns, and one that works and is not declared is a way around a policy.
var capabilityCases = []testCase{
	{"stable", "CA1", 0, capabilitiesStable},
	{"write", "CA2 E1 E2 E5", 0, capabilityWrite},
	{"versions", "CA3 V9", needFiles, capabilityVersions},
	{"conditional-write", "CA4 E1 E2 E5", needWrite, capabilityConditional},
	{"watch", "CA5 E1 E2", 0, capabilityWatch},
	{"move", "CA6 E1 E2 E5", needFiles, capabilityMove},
	{"copy", "CA7 E1 E2 E5", needFiles, capabilityCopy},
	{"conditional-create", "CA4 E1 E2 E5", needWrite, capabilityCreate},
	{"methods-of-store", "CA5 CA6 CA7 CA8", 0, capabilityMethods},
	{"nil-options", "O1", needFiles, capabilityNilOptions},
}

// capabilitiesStable tests that the capabilities do not change when the file
// system is used. Only a watch may improve from polled to native. A program
// asks once and makes its tools from the answer. The watch is the exception,
// because a container knows only after its start whether the image can report
// changes. An unknown mode would be neither refused nor served by callers that
// compare with the three.
func capabilitiesStable(e *env) {
	before := workspace.CapabilitiesOf(e.fsys)
	if before.Write {
		e.write("file", "x")
		e.rm("file", nil)
	}
	after := workspace.CapabilitiesOf(e.fsys)
	want := before
	if before.Watch == workspace.WatchPolled && after.Watch == workspace.WatchNative {
		want.Watch = after.Watch
	}
	if after != want {
		e.Errorf("Capabilities() = %+v and later %+v, want the same", before, after)
	}
	modes := []workspace.WatchMode{workspace.WatchNone, workspace.WatchNative, workspace.WatchPolled}
	if !slices.Contains(modes, before.Watch) {
		e.Errorf("Capabilities().Watch = %q, want one of %q", before.Watch, modes)
	}
}

// capabilityWrite tests that changes work with the capability, and that every
// call that would change something is refused without it. The mistake is a
// read-only wrapper that forgets an optional interface: its WriteFile refuses,
// and Create, Move or Copy reach the store. Only calls that a file system need
// not have at all may answer that they are unsupported.
func capabilityWrite(e *env) {
	if e.caps.Write {
		e.write("dir/file", "x")
		e.mkdir("dir/sub", nil)
		e.rm("dir/file", nil)
		e.leaves(files{"dir/": "", "dir/sub/": ""}, "WriteFile, Mkdir and Rm")
		return
	}
	if e.opts.Peer != nil {
		e.given(callTree())
	}
	before := e.tree()
	for _, c := range writingCalls() {
		name := c.fitting()
		err := c.do(e.ctx, e.fsys, name)
		kinds := []error{fs.ErrPermission}
		if c.needs != needWrite { // it may be refused as an operation
			kinds = append(kinds, errors.ErrUnsupported)
		}
		e.refusedAny(err, kinds, at(c.op, name, "file", "new/destination"), c.text+" without Capabilities.Write", name)
	}
	e.unchanged(before, "writing without Capabilities.Write")
}

// capabilityVersions tests that files have versions exactly if they are
// declared, and directories never. It finds a store whose listing leaves out
// what its Stat has, a write that returns what no read does, and a version of a
// directory, which no write could ever match.
func capabilityVersions(e *env) {
	e.given(files{"file": "content", "dir/": ""})
	got := map[string]workspace.Version{"Stat": e.stat("file").Version, "Ls": e.ls(".", nil)[1].Version}
	if e.caps.Write {
		got["WriteFile"] = e.write("file", "more")
		got["Commit"] = e.create("file", "and more")
	}
	if e.caps.Write && (e.caps.Copy || e.caps.ConditionalWrite) {
		got["Copy"] = e.copyTo("file", "dir/copy")
	}
	for method, version := range got {
		if (version != "") != e.caps.Versions {
			e.Errorf("%s gives the version %q, and Capabilities.Versions is %v", method, version, e.caps.Versions)
		}
	}
	if got := e.ls(".", nil)[0].Version; got != "" {
		e.Errorf("Ls(%q) gives version %q to a directory, want none", ".", got)
	}
}

// capabilityConditional tests that conditions are tested with the capability
// and refused without it, whether or not they would hold. A condition that is
// ignored is worse than one that is refused, as the caller believes that
// nobody's bytes were overwritten. Conditions that would hold are refused, too:
// a test that is not one step with the write holds only until another writer
// comes.
func capabilityConditional(e *env) {
	if e.caps.ConditionalWrite {
		ifNotExistExisting(e)
		return
	}
	e.given(files{"file": "old"})
	before := e.tree()
	for _, opts := range []workspace.WriteOptions{{IfNotExist: true}, {IfVersion: "v"}} {
		for _, name := range []string{"file", "new"} {
			_, err := e.writeIf(name, "new", opts)
			e.refused(err, errors.ErrUnsupported, at(ops.WriteFile, name), "WriteFile(%q, %+v) without Capabilities.ConditionalWrite", name, opts)
		}
	}
	e.unchanged(before, "WriteFile without Capabilities.ConditionalWrite")
}

// capabilityWatch tests that a watch opens with the capability and is refused
// without it. A channel that never sends anything looks like a tree in which
// nothing changes, so it is no way to refuse.
func capabilityWatch(e *env) {
	if e.caps.Watch != workspace.WatchNone {
		e.watch(".", nil)
		return
	}
	_, err := e.fsys.Watch(e.ctx, ".", nil)
	e.refused(err, errors.ErrUnsupported, at(ops.Watch, "."), "Watch(%q) without Capabilities.Watch", ".")
}

// capabilityMove tests that a file moves with the capability and stays without
// it. A copy followed by a removal is no Move: others see both names, and after
// a crash both can stay. A file system that has nothing better must say so.
func capabilityMove(e *env) {
	e.given(files{"file": "x"})
	if e.caps.Move {
		e.move("file", "moved")
		e.leaves(files{"moved": "x"}, "Move(%q, %q)", "file", "moved")
		return
	}
	err := workspace.Move(e.ctx, e.fsys, "file", "moved")
	kinds := []error{errors.ErrUnsupported}
	if !e.caps.Write {
		kinds = append(kinds, fs.ErrPermission)
	}
	e.refusedAny(err, kinds, at(ops.Move, "file", "moved"), "Move(%q, %q) without Capabilities.Move", "file", "moved")
	e.leaves(files{"file": "x"}, "Move(%q, %q) without Capabilities.Move", "file", "moved")
}

// capabilityCopy tests that a file is copied with the capability, and also without it if
// writes are conditional: the copy through the caller needs nothing else. It finds a Copier
// that refuses and so takes the place of that copy.
func capabilityCopy(e *env) {
	e.given(files{"file": "x"})
	if e.caps.Copy || e.caps.Write && e.caps.ConditionalWrite {
		e.copyTo("file", "copy")
		e.leaves(files{"file": "x", "copy": "x"}, "Copy(%q, %q)", "file", "copy")
		return
	}
	_, err := workspace.Copy(e.ctx, e.fsys, "file", "copy")
	kinds := []error{errors.ErrUnsupported}
	if !e.caps.Write {
		kinds = append(kinds, fs.ErrPermission)
	}
	e.refusedAny(err, kinds, at(ops.Copy, "file", "copy"), "Copy(%q, %q) without Capabilities.Copy", "file", "copy")
	e.leaves(files{"file": "x"}, "Copy(%q, %q) without Capabilities.Copy", "file", "copy")
}

// capabilityCreate tests that a condition of a stream is refused as one of a
// write is. A provider that streams has a second place in which to refuse, and
// it is easy to forget.
func capabilityCreate(e *env) {
	if e.caps.ConditionalWrite {
		createIfNotExist(e)
		return
	}
	e.given(files{"file": "old"})
	for name, opts := range map[string]workspace.WriteOptions{"file": {IfVersion: "v"}, "new/new": {IfNotExist: true}} {
		_, err := create(e.ctx, e.fsys, name, "new", &opts)
		e.refused(err, errors.ErrUnsupported, at(ops.Create, name), "Create(%q, %+v) without Capabilities.ConditionalWrite", name, opts)
	}
	e.leaves(files{"file": "old"}, "Create without Capabilities.ConditionalWrite")
}

// optional are the interfaces that a store under [provider.New] may have besides its six methods.
var optional = []reflect.Type{
	reflect.TypeFor[provider.Globber](), reflect.TypeFor[provider.Grepper](), reflect.TypeFor[provider.Watcher](),
	reflect.TypeFor[provider.ContentReader](), reflect.TypeFor[provider.Opener](), reflect.TypeFor[provider.Creator](),
	reflect.TypeFor[provider.Mover](), reflect.TypeFor[provider.Copier](), reflect.TypeFor[provider.Walker](),
	reflect.TypeFor[provider.Resolver](), reflect.TypeFor[provider.Runner](), reflect.TypeFor[provider.Exacter](),
	reflect.TypeFor[fallback.Capable](), reflect.TypeFor[fallback.Rooter](), reflect.TypeFor[fallback.RootFinder](), reflect.TypeFor[io.Closer](),
}

// capabilityMethods looks for methods that [provider.FS] ignores, and for those that it
// misses. Go finds an optional method by its whole signature: with another one, such as a
// pointer for options, all works as if the author had not written it.
func capabilityMethods(e *env) {
	fsys, ok := workspace.As[interface {
		Declared() (reflect.Type, workspace.Capabilities)
	}](e.fsys)
	if !ok {
		e.Skip("the file system is not one of provider.New")
	}
	store, caps := fsys.Declared()
	for _, o := range optional {
		method := o.Method(0)
		if _, ok := store.MethodByName(method.Name); ok && !store.Implements(o) {
			e.Errorf("the method %s of %v is not that of %v, %s%s, and so is not used", method.Name, store, o, method.Name, strings.TrimPrefix(method.Type.String(), "func"))
		}
	}
	for _, c := range []struct {
		declared bool
		name     string
		needs    reflect.Type
	}{
		{caps.Watch == workspace.WatchNative, "Watch: native", reflect.TypeFor[provider.Watcher]()},
		{caps.Move, "Move", reflect.TypeFor[provider.Mover]()},
		{caps.Copy && !caps.ConditionalWrite, "Copy without ConditionalWrite", reflect.TypeFor[provider.Copier]()},
		{caps.Run, "Run", reflect.TypeFor[provider.Runner]()},
	} {
		if c.declared && !store.Implements(c.needs) {
			e.Errorf("%v declares %s and is not a %v", store, c.name, c.needs)
		}
	}
}

// capabilityNilOptions tests that every method accepts nil options. Each is
// called, because a nil pointer that is followed panics only in the method
// whose author forgot it.
func capabilityNilOptions(e *env) {
	e.given(callTree())
	try := func(text string, err error) {
		if err != nil {
			e.Errorf("%s with nil options = %v, want nil", text, err)
		}
	}
	try("Ls", callLs(e.ctx, e.fsys, "dir"))
	_, err := e.fsys.Glob(e.ctx, "*", nil)
	try("Glob", err)
	_, err = e.fsys.Grep(e.ctx, "x", nil)
	try("Grep", err)
	try("Open", callOpen(e.ctx, e.fsys, "file"))
	try("Walk", callWalk(e.ctx, e.fsys, "dir"))
	if e.caps.Watch != workspace.WatchNone {
		try("Watch", callWatch(e.ctx, e.fsys, "dir"))
	}
	if e.caps.Write {
		try("WriteFile", callWriteFile(e.ctx, e.fsys, "file"))
		try("Create", callCreate(e.ctx, e.fsys, "file"))
		try("Mkdir", callMkdir(e.ctx, e.fsys, "new"))
		try("Rm", callRm(e.ctx, e.fsys, "file"))
	}
}
