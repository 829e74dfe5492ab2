package swaptest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
	"golang.org/x/sys/unix"
)

// durationEnv is how long each test of a Run lasts, as [time.ParseDuration]
// reads it. A race that 300 milliseconds do not find may need minutes: set it
// to "10m" after a change of how names are resolved.
const durationEnv = "WORKSPACEKIT_SWAPTEST"

// duration returns how long an attack lasts: a moment, unless the environment
// says longer.
func duration(t *testing.T) time.Duration {
	text := os.Getenv(durationEnv)
	if text == "" {
		return 300 * time.Millisecond
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("%s: %v", durationEnv, err)
	}
	return d
}

// Run uses every operation of a policy over the file systems that open returns
// for folders of this computer, while names in them are swapped.
//
// Each test attacks one policy in one of two ways, on a tree of its own. The
// policies differ in what tells the allowed names from the denied ones:
// patterns, denied names, rules in order, a root. It fails for an error that
// names what is denied, for a result that has some of it, and if the vault has
// changed afterwards. A call may fail otherwise: many meet a swapped name. A
// run tries some of the tests by chance, see package exhaustive. The TestMain
// of the caller's package must begin with [Main].
func Run(t *testing.T, open func(t *testing.T, dir string) workspace.FileSystem) {
	oneIn := 3
	if testing.Short() {
		oneIn = 8
	}
	for _, p := range []struct {
		name   string
		prefix string
		apply  func(fsys workspace.FileSystem) (workspace.FileSystem, error)
	}{
		{"restrict-whole", "src/", restrict("src/**")},
		{"restrict-names", "src/", restrict("src/**/*", "src/*")},
		{"denied", "src/", func(fsys workspace.FileSystem) (workspace.FileSystem, error) {
			return policy.Restrict(fsys, policy.Rules{DeniedPaths: []string{"vault"}})
		}},
		{"rules", "src/", func(fsys workspace.FileSystem) (workspace.FileSystem, error) {
			return policy.Restrict(fsys, policy.Rules{FirstMatch: []policy.Rule{
				{Allow: policy.Ops(), Paths: []string{"src/**"}}, {Deny: policy.Ops(), Paths: []string{"**"}},
			}})
		}},
		{"sub", "", func(fsys workspace.FileSystem) (workspace.FileSystem, error) { return policy.Sub(fsys, "src") }},
	} {
		for _, by := range []string{"tools", "program"} {
			t.Run(p.name+"/"+by, func(t *testing.T) {
				exhaustive.Draw(t, oneIn)
				t.Parallel()
				dir := t.TempDir()
				if err := makeTree(dir); err != nil {
					t.Fatal(err)
				}
				fsys, err := p.apply(open(t, dir))
				if err != nil {
					t.Fatal(err)
				}
				var stop func()
				if by == "tools" {
					stop = swapByTools(t, fsys, dir, p.prefix)
				} else {
					stop = swapByProgram(t, dir)
				}
				attack(t, fsys, dir, p.prefix)
				stop()
				checkVault(t, dir)
				checkCopies(t, dir)
			})
		}
	}
}

// restrict returns a policy that allows what the patterns match.
func restrict(patterns ...string) func(workspace.FileSystem) (workspace.FileSystem, error) {
	return func(fsys workspace.FileSystem) (workspace.FileSystem, error) {
		return policy.Restrict(fsys, policy.Rules{AllowedPaths: patterns})
	}
}

// attack makes every call for a while, and fails the test for each that shows
// or changes what is in the vault. A test in which no call succeeded has shown
// nothing, and fails, too.
func attack(t *testing.T, fsys workspace.FileSystem, dir, prefix string) {
	a := &attacker{ctx: t.Context(), fsys: fsys, prefix: prefix, leaks: map[string]int{}}
	uses := a.uses()
	start := time.Now()
	// On a busy machine it takes longer until a call succeeds.
	for since := time.Duration(0); since < duration(t) || a.successes == 0 && since < time.Minute; since = time.Since(start) {
		for _, use := range uses {
			seen, err := use.do()
			a.calls++
			if err == nil {
				a.successes++
			} else if strings.Contains(err.Error(), "vault") || strings.Contains(err.Error(), dir) {
				t.Errorf("%s = %v, which names what is denied", use.name, err)
			}
			if strings.Contains(seen, "theirs") || strings.Contains(seen, "hidden") || strings.Contains(seen, "vault") {
				a.leaks[use.name]++
			}
		}
	}
	t.Logf("%d calls, %d succeeded", a.calls, a.successes)
	if a.successes == 0 {
		t.Error("no call succeeded, so nothing was tested")
	}
	for name, times := range a.leaks {
		t.Errorf("%s showed what is denied %d times", name, times)
	}
}

// checkVault fails the test if the vault was changed. A file that was not there
// before is a change.
func checkVault(t *testing.T, dir string) {
	want := map[string]string{"file": theirs, "hidden": theirs, "sub": "", "sub/file": theirs, "sub/hidden": theirs}
	_ = filepath.WalkDir(filepath.Join(dir, "vault"), func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(filepath.Join(dir, "vault"), path)
		if err != nil || name == "." {
			return err
		}
		var text []byte
		if !entry.IsDir() {
			text, _ = os.ReadFile(path)
		}
		if before, known := want[name]; !known || before != string(text) {
			t.Errorf("vault/%s is %q now, want %q", name, text, before)
		}
		delete(want, name)
		return nil
	})
	for name := range want {
		t.Errorf("vault/%s was removed", name)
	}
}

// checkCopies fails the test if a file in src has what is denied. That a call
// returned an error does not mean that it copied nothing.
func checkCopies(t *testing.T, dir string) {
	_ = filepath.WalkDir(filepath.Join(dir, "src"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil
		}
		if text, _ := os.ReadFile(path); strings.Contains(string(text), "theirs") {
			t.Errorf("%s has what is denied", path[len(dir):])
		}
		return nil
	})
}

// attacker makes the calls of one test. Its calls are made one after the other;
// what races with them is who swaps.
type attacker struct {
	ctx       context.Context
	fsys      workspace.FileSystem
	prefix    string // of the names in fsys
	calls     int    // how many operations were tried
	successes int
	leaks     map[string]int // what denied files have shown, by operation
}

// use is one call. do returns all that it was told. A result that has "theirs",
// "hidden" or "vault" in it is a leak, since only the vault has these words. An
// error may say anything but the name of the vault or of the host's folder.
type use struct {
	name string
	do   func() (seen string, err error)
}

// uses returns what the attacker tries, one call for each way to reach a file.
func (a *attacker) uses() (all []use) {
	for _, name := range []string{"file", "dir/file", "dir/sub/file", "deep/dir/file"} {
		all = append(all, a.fileUses(a.prefix+name)...)
	}
	for _, name := range []string{".", "dir", "dir/sub", "deep"} {
		if name == "." {
			name = strings.TrimSuffix(a.prefix, "/")
		} else {
			name = a.prefix + name
		}
		if name == "" {
			name = "."
		}
		all = append(all, a.dirUses(name)...)
	}
	for _, name := range []string{"dir/hidden", "dir/sub/hidden", "deep/dir/hidden"} {
		all = append(all, a.hiddenUses(a.prefix+name)...)
	}
	return append(all, a.treeUses()...)
}

// fileUses read and write a file that is there. An edit is a read and a write
// with the version that was read: it fails if the name means another file by
// then.
func (a *attacker) fileUses(name string) []use {
	return []use{
		{"ReadFile " + name, func() (string, error) {
			data, err := a.fsys.ReadFile(a.ctx, name)
			return string(data), err
		}},
		{"ReadVersioned " + name, func() (string, error) {
			data, _, err := workspace.ReadVersioned(a.ctx, a.fsys, name, 100)
			return string(data), err
		}},
		{"Open " + name, func() (string, error) {
			stream, _, err := workspace.Open(a.ctx, a.fsys, name, nil)
			if err != nil {
				return "", err
			}
			defer stream.Close()
			data, err := io.ReadAll(stream)
			return string(data), err
		}},
		{"Grep " + name, func() (string, error) { return a.grep(name) }},
		{"Resolve " + name, func() (string, error) { return workspace.Resolve(a.ctx, a.fsys, name) }},
		{"Copy " + name, func() (string, error) {
			_ = a.fsys.Rm(a.ctx, a.prefix+"copy", nil)
			if _, err := workspace.Copy(a.ctx, a.fsys, name, a.prefix+"copy"); err != nil {
				return "", err
			}
			data, err := a.fsys.ReadFile(a.ctx, a.prefix+"copy")
			return string(data), err
		}},
		{"edit " + name, func() (string, error) {
			data, version, err := workspace.ReadVersioned(a.ctx, a.fsys, name, 0)
			if err != nil {
				return string(data), err
			}
			_, err = a.fsys.WriteFile(a.ctx, name, []byte(mine), &workspace.WriteOptions{IfVersion: version})
			return string(data), err
		}},
		{"WriteFile " + name, func() (string, error) {
			_, err := a.fsys.WriteFile(a.ctx, name, []byte(mine), nil)
			return "", err
		}},
		{"Create " + name, func() (string, error) {
			w, err := workspace.Create(a.ctx, a.fsys, name, nil)
			if err != nil {
				return "", err
			}
			defer w.Close()
			if _, err := io.WriteString(w, mine); err != nil {
				return "", err
			}
			_, err = w.Commit()
			return "", err
		}},
	}
}

// grep searches path and returns what the search shows: matches and skipped
// names.
func (a *attacker) grep(path string) (string, error) {
	result, err := a.fsys.Grep(a.ctx, ".", &workspace.GrepOptions{Path: path})
	if err != nil {
		return "", err
	}
	var seen strings.Builder
	for _, match := range result.Matches {
		seen.WriteString(match.Path + ":" + match.Line + "\n")
	}
	for _, skipped := range result.Skipped {
		seen.WriteString(skipped.Path + "\n")
	}
	return seen.String(), nil
}

// dirUses look into a directory.
func (a *attacker) dirUses(name string) []use {
	return []use{
		{"Ls " + name, func() (string, error) {
			infos, err := a.fsys.Ls(a.ctx, name, nil)
			return pathsOf(infos), err
		}},
		{"Walk " + name, func() (string, error) {
			var infos []workspace.FileInfo
			err := workspace.Walk(a.ctx, a.fsys, name, nil, func(info workspace.FileInfo, err error) error {
				infos = append(infos, info)
				return nil
			})
			return pathsOf(infos), err
		}},
		{"Glob " + name, func() (string, error) {
			found, err := a.fsys.Glob(a.ctx, "**", &workspace.GlobOptions{Dir: name})
			return strings.Join(found, "\n"), err
		}},
		{"Grep " + name, func() (string, error) { return a.grep(name) }},
		{"Stat " + name, func() (string, error) {
			info, err := a.fsys.Stat(a.ctx, name)
			return info.Path, err
		}},
	}
}

// pathsOf returns the paths of the entries, one to a line.
func pathsOf(infos []workspace.FileInfo) string {
	var paths []string
	for _, info := range infos {
		paths = append(paths, info.Path)
	}
	return strings.Join(paths, "\n")
}

// hiddenUses use what only the vault has: a call that succeeds has reached it.
// Their names do not exist in src, so whoever finds one has followed a symlink.
func (a *attacker) hiddenUses(name string) []use {
	succeeds := func(text string, do func() error) use {
		return use{text + " " + name, func() (string, error) {
			if err := do(); err != nil {
				return "", err
			}
			return "hidden", nil
		}}
	}
	stolen := a.prefix + "stolen"
	return []use{
		succeeds("Stat", func() error { _, err := a.fsys.Stat(a.ctx, name); return err }),
		succeeds("Rm", func() error { return a.fsys.Rm(a.ctx, name, nil) }),
		succeeds("Move", func() error { return workspace.Move(a.ctx, a.fsys, name, stolen) }),
		succeeds("Copy", func() error { _, err := workspace.Copy(a.ctx, a.fsys, name, stolen); return err }),
	}
}

// treeUses make and remove directories and what is in them. Most undo what
// another does, so that they can succeed again in the next round.
func (a *attacker) treeUses() []use {
	at := func(name string) string { return a.prefix + name }
	return []use{
		{"Mkdir dir/made", func() (string, error) { return "", a.fsys.Mkdir(a.ctx, at("dir/made"), nil) }},
		{"Mkdir dir/new/deep", func() (string, error) {
			return "", a.fsys.Mkdir(a.ctx, at("dir/new/deep"), &workspace.MkdirOptions{Recursive: true})
		}},
		{"WriteFile dir/new/file", func() (string, error) {
			_, err := a.fsys.WriteFile(a.ctx, at("dir/new/file"), []byte(mine), nil)
			return "", err
		}},
		{"Copy to dir/copied", func() (string, error) {
			_, err := workspace.Copy(a.ctx, a.fsys, at("file"), at("dir/copied"))
			return "", err
		}},
		{"Move to dir/sub/moved", func() (string, error) {
			return "", workspace.Move(a.ctx, a.fsys, at("copy"), at("dir/sub/moved"))
		}},
		{"Rm dir/made", func() (string, error) { return "", a.fsys.Rm(a.ctx, at("dir/made"), nil) }},
		{"Rm dir/copied", func() (string, error) { return "", a.fsys.Rm(a.ctx, at("dir/copied"), nil) }},
		{"Rm dir/sub", func() (string, error) {
			return "", a.fsys.Rm(a.ctx, at("dir/sub"), &workspace.RmOptions{Recursive: true})
		}},
		{"Rm dir/new", func() (string, error) {
			return "", a.fsys.Rm(a.ctx, at("dir/new"), &workspace.RmOptions{Recursive: true})
		}},
		{"WriteFile dir/sub/file", func() (string, error) {
			_, err := a.fsys.WriteFile(a.ctx, at("dir/sub/file"), []byte(mine), nil)
			return "", err
		}},
	}
}

// childEnv names the folder that a test binary swaps names in, as the child of
// another.
const childEnv = "WORKSPACEKIT_SWAPTEST_CHILD"

// Main must be the first call of TestMain in a package that calls [Run]: in a
// child process it swaps names and does not return. It returns at once in any
// other process. The child ends with its parent, also when that is killed,
// because its standard input ends.
func Main() {
	dir := os.Getenv(childEnv)
	if dir == "" {
		return
	}
	// The end of the input is the end of the parent.
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadByte()
		os.Exit(0)
	}()
	if err := swapForever(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// The tree: src is allowed, vault is denied, and spare has symlinks to the vault
// that take turns with what is in src.
//
//	src/file   "mine"    spare/file  -> ../vault/hidden
//	src/dir/             spare/dir   -> ../vault
//	src/deep/dir/        spare/deep  -> ../../vault
func makeTree(dir string) error {
	for _, name := range []string{"src/dir/sub", "src/deep/dir/sub", "vault/sub", "spare"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o777); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{
		"src/file": mine, "src/dir/file": mine, "src/dir/sub/file": mine, "src/deep/dir/file": mine,
		"vault/file": theirs, "vault/hidden": theirs, "vault/sub/file": theirs, "vault/sub/hidden": theirs,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	for name, target := range map[string]string{"spare/file": "../vault/hidden", "spare/dir": "../vault", "spare/deep": "../../vault"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

const (
	mine   = "mine\n"
	theirs = "theirs\n"
)

// swaps are the names that are exchanged, each as its path from the folder.
var swaps = [][2]string{{"src/file", "spare/file"}, {"src/dir", "spare/dir"}, {"src/deep/dir", "spare/deep"}}

// swapForever exchanges the names as fast as it can, until an exchange fails.
// It runs in a process of its own. The exchange is one step of the kernel, so
// the name exists at every moment: either the file or the symlink.
func swapForever(dir string) error {
	for {
		for _, names := range swaps {
			err := unix.Renameat2(unix.AT_FDCWD, filepath.Join(dir, names[0]), unix.AT_FDCWD, filepath.Join(dir, names[1]), unix.RENAME_EXCHANGE)
			if err != nil && err != unix.ENOENT { // someone removed it
				return err
			}
		}
	}
}

// swapByProgram swaps names in another process until stop is called. stop waits
// for the process, and fails the test if it had ended before for an error.
func swapByProgram(t *testing.T, dir string) (stop func()) {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), childEnv+"="+dir)
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() {
		input.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the program that swaps: %v", err)
		}
	}
}

// swapByTools swaps names by moves through fsys, whose names begin with prefix,
// until stop is called. The moves are those that a model could make itself. For
// each name they are:
//
//	file        -> file-aside
//	file-link   -> file          now the name is a symlink to the vault
//	file        -> file-link
//	file-aside  -> file          now it is the file again
func swapByTools(t *testing.T, fsys workspace.FileSystem, dir, prefix string) (stop func()) {
	t.Helper()
	// What a tool moves must be allowed: the symlinks are in src.
	for _, names := range swaps {
		if err := os.Rename(filepath.Join(dir, names[1]), filepath.Join(dir, names[0]+"-link")); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			for _, names := range swaps {
				name := prefix + names[0][len("src/"):]
				for _, move := range [][2]string{{name, name + "-aside"}, {name + "-link", name}, {name, name + "-link"}, {name + "-aside", name}} {
					_ = workspace.Move(ctx, fsys, move[0], move[1]) // someone may have made or removed it
				}
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}
