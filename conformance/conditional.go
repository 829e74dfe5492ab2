package conformance

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// conditionalCases are the cases for conditional writes and for versions. An
// agent reads a file, thinks for a minute, and writes its edit with the version
// that it has read: only these conditions keep what a person saved in that
// minute.
var conditionalCases = []testCase{
	{"if-not-exist-new", "V1", needWrite | needConditional, ifNotExistNew},
	{"if-not-exist-existing", "V1 E1 E2 E5", needWrite | needConditional, ifNotExistExisting},
	{"if-not-exist-directory", "V1 E1 E2 E5", needWrite | needConditional, ifNotExistDirectory},
	{"if-not-exist-again", "V1", needWrite | needConditional, ifNotExistAgain},
	{"if-not-exist-race", "V2", needWrite | needConditional, ifNotExistRace},
	{"if-version-match", "V3 V7", needWrite | needConditional, ifVersionMatch},
	{"if-version-mismatch", "V3 E1 E2 E5", needWrite | needConditional, ifVersionMismatch},
	{"if-version-missing", "V3 E1 E2 E5", needWrite | needConditional, ifVersionMissing},
	{"if-version-removed", "V3", needWrite | needConditional, ifVersionRemoved},
	{"if-version-directory", "V4 E1 E2 E5", needWrite | needConditional, ifVersionDirectory},
	{"if-version-race", "V5", needWrite | needConditional, ifVersionRace},
	{"if-version-other-writer", "V3", needWrite | needConditional, ifVersionOtherWriter},
	{"large-conditions", "V1 V3 E5", needWrite | needConditional | needTime, largeConditions},
	{"both-conditions", "V6 E1 E2 E5", needWrite | needConditional, bothConditions},
	{"version-of-every-byte", "V8", needWrite | needVersions, versionOfEveryByte},
	{"version-after-rm", "V10", needWrite | needVersions, versionAfterRm},
	{"version-changes-at-once", "V8", needWrite | needVersions, versionChangesAtOnce},
	{"version-everywhere-the-same", "V7 RV1 OP2", needWrite | needVersions, versionEverywhere},
	{"version-never-missing", "V9 V7 RV1 OP2 CR2", needWrite | needVersions, versionNeverMissing},
	{"version-stays", "V7", needWrite | needVersions, versionStays},
	{"edits-are-not-lost", "V5 V3", needWrite | needConditional | needVersions, editsAreNotLost},
}

// writeIf writes with conditions and returns the error, which may be what the
// case wants.
func (e *env) writeIf(name, content string, opts workspace.WriteOptions) (workspace.Version, error) {
	return e.fsys.WriteFile(e.ctx, name, []byte(content), &opts)
}

// ifNotExistNew tests that the condition holds where nothing has the name, with
// missing parents too. It finds a condition that is false for a name whose
// directory does not exist.
func ifNotExistNew(e *env) {
	for _, name := range []string{"file", "new/parents/file"} {
		if _, err := e.writeIf(name, "content", workspace.WriteOptions{IfNotExist: true}); err != nil {
			e.Errorf("WriteFile(%q, IfNotExist) = %v, want nil", name, err)
			continue
		}
		e.has(name, "content")
	}
}

// ifNotExistExisting tests that the condition refuses a file, even an empty
// one, and keeps its content. A provider that infers from a size of zero that
// there is no file replaces the empty one. A tool that creates files relies on
// this, as a model guesses names that are free.
func ifNotExistExisting(e *env) {
	e.given(files{"file": "old", "empty": ""})
	before := e.tree()
	for _, name := range []string{"file", "empty"} {
		_, err := e.writeIf(name, "new", workspace.WriteOptions{IfNotExist: true})
		e.refused(err, fs.ErrExist, at(ops.WriteFile, name), "WriteFile(%q, IfNotExist)", name)
	}
	e.unchanged(before, "WriteFile(IfNotExist) of files that exist")
}

// ifNotExistDirectory tests that the condition refuses a directory with
// [fs.ErrExist], not ErrIsDir. In a bucket no object has the name of a
// directory, so the store's own condition holds, and the write makes a file
// with the name that the directory has.
func ifNotExistDirectory(e *env) {
	e.given(files{"dir/file": "x", "empty/": ""})
	before := e.tree()
	for _, name := range []string{"dir", "empty"} {
		_, err := e.writeIf(name, "new", workspace.WriteOptions{IfNotExist: true})
		e.refused(err, fs.ErrExist, at(ops.WriteFile, name), "WriteFile(%q, IfNotExist)", name)
	}
	e.unchanged(before, "WriteFile(IfNotExist) of directories")
}

// ifNotExistAgain creates a file again after its removal. What existed once is
// no reason to refuse, neither in a cache of names nor in a store that keeps
// markers of deleted objects.
func ifNotExistAgain(e *env) {
	for range 2 {
		if _, err := e.writeIf("file", "content", workspace.WriteOptions{IfNotExist: true}); err != nil {
			e.Fatalf("WriteFile(%q, IfNotExist) = %v, want nil", "file", err)
		}
		e.rm("file", nil)
	}
}

// race writes name by 32 writers at once and returns the content of each that
// succeeded. Losers must fail with lost. The order is the order of the writers
// and says nothing about time.
func (e *env) race(name string, opts workspace.WriteOptions, lost error) []string {
	e.Helper()
	const writers = 32
	errs := make([]error, writers)
	together(writers, func(i int) { _, errs[i] = e.writeIf(name, fmt.Sprintf("writer %d", i), opts) })
	var winners []string
	for i, err := range errs {
		if err == nil {
			winners = append(winners, fmt.Sprintf("writer %d", i))
			continue
		}
		e.refused(err, lost, at(ops.WriteFile, name), "WriteFile(%q, %+v) by one of %d writers", name, opts, writers)
	}
	return winners
}

// oneWins fails the case unless there is one winner and name has its content.
func (e *env) oneWins(name string, winners []string) {
	e.Helper()
	if len(winners) != 1 {
		e.Fatalf("%d of 32 concurrent WriteFile(%q) with one condition succeeded, want 1", len(winners), name)
	}
	e.has(name, winners[0])
}

// ifNotExistRace tests that one of several writers creates a file. The mistake
// is a look and then a write. Two agents that claim a task by creating a file
// would both have it. Five rounds are there, because such a race often ends
// well.
func ifNotExistRace(e *env) {
	for round := range 5 {
		name := fmt.Sprintf("dir/file%d", round)
		e.oneWins(name, e.race(name, workspace.WriteOptions{IfNotExist: true}, fs.ErrExist))
	}
}

// ifVersionMatch tests that the current version is accepted, in a chain of
// writes. It finds a write that returns another version than the store
// compares, with which every second edit of an agent fails. The chain ends with
// an empty file, which has a version like any other.
func ifVersionMatch(e *env) {
	version := e.write("file", "one")
	for _, content := range []string{"two", "three", ""} {
		next, err := e.writeIf("file", content, workspace.WriteOptions{IfVersion: version})
		if err != nil {
			e.Fatalf("WriteFile(%q, IfVersion of the write before) = %v, want nil", "file", err)
		}
		e.has("file", content)
		if next == version {
			e.Errorf("WriteFile(%q, other bytes) = version %q, want another than before", "file", next)
		}
		version = next
	}
}

// ifVersionMismatch tests that an old version, or one that never was, is
// refused. The version is opaque to callers, and text from a model: "*" is any
// version in an HTTP If-Match, "0" a missing object in some stores, and quotes
// could end the value early. A provider that parses numbers may stop where the
// current version ends.
func ifVersionMismatch(e *env) {
	old := e.write("file", "one")
	now := e.write("file", "two")
	before := e.tree()
	for _, version := range []workspace.Version{
		old, "none", `"quoted"`, "*", "0",
		now + " x", now + ",", now + ".0", now + "\nq", " " + now, "0" + now, now + ", " + now,
	} {
		_, err := e.writeIf("file", "new", workspace.WriteOptions{IfVersion: version})
		e.refused(err, workspace.ErrConflict, at(ops.WriteFile, "file"), "WriteFile(%q, IfVersion: %q)", "file", version)
	}
	e.unchanged(before, "WriteFile(IfVersion of other bytes)")
}

// ifVersionMissing tests that a file that does not exist has no version to
// match. The mistakes are a write that creates the file, and parents that are
// made before the condition is tested. A file that a user has deleted must not
// come back by an edit of an agent.
func ifVersionMissing(e *env) {
	version := e.write("file", "content")
	before := e.tree()
	for _, name := range []string{"none", "none/none"} {
		_, err := e.writeIf(name, "new", workspace.WriteOptions{IfVersion: version})
		e.refused(err, workspace.ErrConflict, at(ops.WriteFile, name), "WriteFile(%q, IfVersion)", name)
	}
	e.unchanged(before, "WriteFile(IfVersion) of files that do not exist")
}

// ifVersionRemoved tests that the version of a removed file no longer matches.
// It finds a provider that compares with what it remembers instead of with the
// store.
func ifVersionRemoved(e *env) {
	version := e.write("file", "content")
	e.rm("file", nil)
	_, err := e.writeIf("file", "new", workspace.WriteOptions{IfVersion: version})
	e.refused(err, workspace.ErrConflict, at(ops.WriteFile, "file"), "WriteFile(%q, IfVersion) after Rm", "file")
}

// ifVersionDirectory tests that a directory is ErrIsDir, not a conflict. A
// conflict means that it helps to read again and to repeat the edit, which for
// a directory it never does.
func ifVersionDirectory(e *env) {
	version := e.write("dir/file", "content")
	before := e.tree()
	_, err := e.writeIf("dir", "new", workspace.WriteOptions{IfVersion: version})
	e.refused(err, workspace.ErrIsDir, at(ops.WriteFile, "dir"), "WriteFile(%q, IfVersion)", "dir")
	e.unchanged(before, "WriteFile(%q, IfVersion)", "dir")
}

// ifVersionRace tests that one of several writers with the same version
// succeeds. The mistake is a comparison and then a write: all who have compared
// before the first has written succeed, and all edits but the last are lost
// without an error.
func ifVersionRace(e *env) {
	for range 5 {
		version := e.write("file", "the start of a race")
		e.oneWins("file", e.race("file", workspace.WriteOptions{IfVersion: version}, workspace.ErrConflict))
	}
}

// ifVersionOtherWriter lets another client of the store write between. A
// provider that keeps versions in its own process, or locks only its own
// writers, finds nothing wrong with the old one. What was written last stays.
func ifVersionOtherWriter(e *env) {
	version := e.write("file", "mine")
	e.given(files{"file": "theirs"})
	_, err := e.writeIf("file", "mine again", workspace.WriteOptions{IfVersion: version})
	e.refused(err, workspace.ErrConflict, at(ops.WriteFile, "file"), "WriteFile(%q, IfVersion) after another writer", "file")
	e.has("file", "theirs")
}

// largeConditions writes what a store may take in several requests. The
// condition must be part of the request that makes the upload visible: one that
// is sent with the first request alone is not tested at the end.
func largeConditions(e *env) {
	old := e.write("file", "one")
	e.write("file", "two")
	_, err := e.writeIf("file", large(), workspace.WriteOptions{IfVersion: old})
	e.refused(err, workspace.ErrConflict, at(ops.WriteFile, "file"), "WriteFile(%q, 5 MiB, IfVersion of the write before the last)", "file")
	_, err = e.writeIf("file", large(), workspace.WriteOptions{IfNotExist: true})
	e.refused(err, fs.ErrExist, at(ops.WriteFile, "file"), "WriteFile(%q, 5 MiB, IfNotExist)", "file")
	e.leaves(files{"file": "two"}, "WriteFile(%q) with conditions that are false", "file")
}

// bothConditions tests that two conditions at once are refused, as one of them
// could never hold. A provider that tests the first one only would replace the
// file that must not exist, or create the one that must.
func bothConditions(e *env) {
	version := e.write("file", "old")
	before := e.tree()
	for _, name := range []string{"file", "none"} {
		_, err := e.writeIf(name, "new", workspace.WriteOptions{IfVersion: version, IfNotExist: true})
		e.refused(err, fs.ErrInvalid, at(ops.WriteFile, name), "WriteFile(%q, IfVersion and IfNotExist)", name)
	}
	e.unchanged(before, "WriteFile(IfVersion and IfNotExist)")
}

// versionChangesAtOnce writes faster than clocks tick, in one size. A version
// made of size and time can stay the same here, and with it an old edit
// overwrites a new one.
func versionChangesAtOnce(e *env) {
	seen := make(map[workspace.Version]string)
	for i := range 50 {
		content := fmt.Sprintf("content %02d", i)
		version := e.write("file", content)
		if before, ok := seen[version]; ok {
			e.Fatalf("WriteFile(%q, %q) = version %q, which was that of %q", "file", content, version, before)
		}
		seen[version] = content
	}
}

// versionOfEveryByte changes one byte at a time, in what a digest of the head,
// the tail or a sample would leave out. 200 KiB are more than such a sample
// reads. The flag of a configuration file that changes from 0 to 1 is one byte
// of the same size.
func versionOfEveryByte(e *env) {
	content := []byte(large()[:200<<10])
	seen := map[workspace.Version]string{e.write("file", string(content)): "as written first"}
	for _, at := range []int{0, 64, 4 << 10, 64 << 10, len(content) / 2, len(content) - 64, len(content) - 1} {
		content[at]++
		version := e.write("file", string(content))
		change := fmt.Sprintf("with byte %d changed", at)
		if before, ok := seen[version]; ok {
			e.Errorf("WriteFile(%q) %s = version %q, which the file had %s", "file", change, version, before)
		}
		seen[version] = change
	}
}

// versionAfterRm creates a file again, with other bytes of the same size. A
// number that counts the writes of a file begins again with the new file, and
// an agent that still holds version 1 of the old one would overwrite it. The
// file is removed alone, and with its directory.
func versionAfterRm(e *env) {
	seen := make(map[workspace.Version]string)
	for i := range 6 {
		content := fmt.Sprintf("content %d", i)
		version := e.write("dir/file", content)
		if before, ok := seen[version]; ok {
			e.Errorf("WriteFile(%q, %q) after Rm = version %q, which was that of %q", "dir/file", content, version, before)
		}
		seen[version] = content
		if i%2 == 1 {
			e.rm([]string{"dir/file", "dir"}[i/2%2], &workspace.RmOptions{Recursive: true})
		}
	}
}

// versionEverywhere tests that every method that returns a version returns the
// same one. The last content is one that a store may take in parts, whose
// versions are often made in another way. A version of a listing that no write
// accepts makes every edit a conflict.
func versionEverywhere(e *env) {
	for _, content := range []string{"one", "two", "", large()} {
		version := e.write("dir/file", content)
		if version == "" {
			e.Fatalf("WriteFile(%q) = version %q, want one, as Capabilities.Versions is declared", "dir/file", version)
		}
		e.sameVersion("dir", "dir/file", version)
	}
}

// sameVersion fails the case unless Stat, Ls, ReadVersioned and Open give want.
// The file must be the first child of dir.
func (e *env) sameVersion(dir, name string, want workspace.Version) {
	e.Helper()
	if got := e.stat(name).Version; got != want {
		e.Errorf("Stat(%q).Version = %q, want %q as WriteFile returned", name, got, want)
	}
	if got := e.ls(dir, nil)[0].Version; got != want {
		e.Errorf("Ls(%q)[0].Version = %q, want %q as WriteFile returned", dir, got, want)
	}
	_, got, err := workspace.ReadVersioned(e.ctx, e.fsys, name, 0)
	if err != nil || got != want {
		e.Errorf("ReadVersioned(%q) = version %q, %v, want %q as WriteFile returned", name, got, err, want)
	}
	stream, info, err := workspace.Open(e.ctx, e.fsys, name, nil)
	if err != nil || info.Version != want {
		e.Fatalf("Open(%q) = version %q, %v, want %q as WriteFile returned", name, info.Version, err, want)
	}
	stream.Close()
}

// versionNeverMissing asks for versions often, beside writers: an empty version
// is no condition, so a write by one would replace whatever is there.
func versionNeverMissing(e *env) {
	const workers, rounds = 4, 10
	e.given(files{"dir/file": "start", "still": "copied"})
	present := func(version workspace.Version, err error, format string, args ...any) {
		if err != nil || version == "" {
			e.Errorf("%s beside writers = version %q, %v, want one", fmt.Sprintf(format, args...), version, err)
		}
	}
	together(workers, func(worker int) {
		for round := range rounds {
			content := fmt.Sprintf("%d of %d", round, worker)
			version, err := e.fsys.WriteFile(e.ctx, "dir/file", []byte(content), nil)
			present(version, err, "WriteFile(%q)", "dir/file")
			info, err := e.fsys.Stat(e.ctx, "dir/file")
			present(info.Version, err, "Stat(%q)", "dir/file")
			infos, err := e.fsys.Ls(e.ctx, "dir", nil)
			// An empty list counts as a missing version.
			present(append(infos, workspace.FileInfo{})[0].Version, err, "Ls(%q)", "dir")
			_, version, err = workspace.ReadVersioned(e.ctx, e.fsys, "dir/file", 0)
			present(version, err, "ReadVersioned(%q)", "dir/file")
			stream, info, err := workspace.Open(e.ctx, e.fsys, "dir/file", nil)
			if err == nil {
				stream.Close()
			}
			present(info.Version, err, "Open(%q)", "dir/file")
			version, err = create(e.ctx, e.fsys, "dir/file", content, nil)
			present(version, err, "Create(%q), Commit", "dir/file")
			if e.caps.Copy {
				copied := fmt.Sprintf("copy %d of %d", round, worker)
				version, err = workspace.Copy(e.ctx, e.fsys, "still", copied)
				present(version, err, "Copy(%q, %q)", "still", copied)
			}
		}
	})
}

// versionStays tests that looking at a file and writing others leave its
// version alone. A version that counts the writes of the whole tree is always a
// new one: each agent's edit conflicts with the edits of all other files.
func versionStays(e *env) {
	version := e.write("file", "content")
	e.write("other", "content")
	e.read("file")
	e.sameVersion(".", "file", version)
}

// editsAreNotLost tests that the compare-and-swap of Workspace.Edit, used by
// several at once, keeps every edit. Each edit adds one byte, so the length is
// the number of edits that have survived. 16 editors conflict much more often
// than they succeed at first, so the loop is run many times.
func editsAreNotLost(e *env) {
	const editors, edits = 16, 4
	e.write("file", "")
	w := workspace.New("test", e.fsys, nil)
	errs := make(chan error, editors*edits)
	var done sync.WaitGroup
	for range editors {
		done.Go(func() {
			for range edits {
				_, _, err := w.Edit(e.ctx, "file", func(old []byte) ([]byte, error) { return append(old, '+'), nil })
				errs <- err
			}
		})
	}
	done.Wait()
	close(errs)
	var failed error
	for err := range errs {
		failed = errors.Join(failed, err)
	}
	if got := len(e.read("file")); failed != nil || got != editors*edits {
		e.Errorf("%d concurrent Edit(%q) left %d edits and %v, want all", editors*edits, "file", got, failed)
	}
}
