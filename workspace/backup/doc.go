// Package backup keeps the bytes that changes of a workspace replace or remove,
// and undoes those changes. [New] wraps any [workspace.FileSystem]: in go the
// changes, and out come the same changes, a journal of them, and [FS.Undo].
//
//	fsys, err := backup.New(local, nil)
//	ws := workspace.New("repo", fsys, nil)
//	changes, err := fsys.Undo(ctx, nil)
//
// # How a change is recorded
//
// A change takes four steps. A program can be killed between any two of them:
//
//	WriteFile("a", "new") over a file with "old", in the session s1
//
//	1. objects/<hour>/<hash of "old"> gets the bytes "old"
//	2. journal/000000000007.json says: s1, write_file, a: <hash of "old"> -> <hash of "new">
//	3. a                         gets the bytes "new", if it still has the version that was read in step 1
//	4. journal/000000000007.json says, too: done, with the new version
//
// Nothing has to be repaired after a crash. Whoever reads the journal compares a
// change that is not done with what is there: "new" says that the change took
// place, "old" that it did not, and other bytes that somebody else has written.
//
// The condition in step 3 makes sure that the bytes that a write replaces are the
// bytes that were kept, whoever else writes. A store without conditional writes
// ([workspace.Capabilities]) has this guarantee within one FS only. Rm and Move
// have no conditions in the contract: what another program writes in the moment
// between the last look and the removal is lost, as without backups.
//
// # The journal
//
// A change is one small object, created under the next free number, so that two
// processes never have the same one and a bucket can keep the journal. Bytes are
// stored under their SHA-256 hash, the same bytes once in an hour. Changes beyond
// [Options].Keep, KeepBytes and KeepFor are deleted now and then, the oldest first; until
// then they can be undone. An undo is a change, too, but Keep counts it apart, up to two
// for each change. Bytes that no change needs are deleted an hour or two after they were
// stored at the earliest.
//
// What is kept is contents and names, nothing that the contract does not know: no
// permission bits, no times, no symlinks, and nothing that no listing shows, which a
// recursive Rm removes with its directory all the same. A write keeps the permission
// bits of the file, and so does the write that undoes it.
package backup
