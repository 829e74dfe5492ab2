// Package audit keeps a log of what is done in workspaces: in go the events of
// package observe, out comes a file of JSON lines that can be appended to and not
// changed without showing it.
//
//	log, err := audit.Open("/var/log/agents/repo.jsonl", nil)
//	fsys = observe.New(fsys, "repo", log)
//
// # The file
//
// The first line is a header with a random seed. Each line has, as "prev", the
// SHA-256 of the line before it, so the lines are a chain: whoever changes, removes,
// inserts or reorders a line breaks it, and [Verify] names the place. For example,
// of the three lines
//
//	1  {"log":{"version":1,"seed":"X"},"time":"…","prev":""}
//	2  {"time":"…","op":"write_file","path":"a",…,"prev":"SHA-256 of line 1"}
//	3  {"time":"…","op":"rm","path":"a",…,"prev":"SHA-256 of line 2"}
//
// without line 2, line 3 does not continue line 1. Two things do not show by
// themselves, because everything that is needed to write a chain is public: lines
// cut off at the end, and a file that was written again from some line on. Note the
// hash of the last line somewhere else from time to time, and give it to Verify: the
// log must still have a line with that hash.
//
// # What is in the log, and when
//
// An operation returns after its line has been written, with one write to a file
// that was opened for appending. A stream or a watch writes its line when it ends. So
// when a program is killed, the log has a line for every operation that had returned, if
// it could be written, and nothing is lost but operations, streams and watches that were
// still running. [Options].Sync also lets it survive a loss of power.
//
// A line that was cut short by a crash or a full disk stays. The next line is a
// record of it, with its length, and continues it.
//
// While the log cannot be written, operations are refused with
// [workspace.ErrUnavailable]. The one whose line failed has taken place, and so have
// those that were running: their lines are kept in memory, and written first when the
// log can be written again, each once. They are lost if the program ends before that.
//
// # Several processes, and several files
//
// Several processes can write to one file: each line is written under a lock. A file
// that has become shorter than a [Log] knows it is refused by that Log, but not by a new
// one.
//
// With [Options].MaxSize, a log continues in a new file when its file has that size. The
// full one gets a number, such as "repo.jsonl.7", which is in its header, and the first
// line of the new one continues its last line. A header also says from which number on
// the files are kept ([Options].Keep), and [VerifyFile] tests that these are there.
// Nothing is lost if the program is killed meanwhile.
//
// Another program may rename the file in place of that. The next line is then the header
// of a new file, which continues the last line of the renamed one, if it was renamed to a
// number or this process has written that line.
package audit
