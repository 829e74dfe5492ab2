// Package observe tells others what happens in a [workspace.FileSystem]: in goes a
// FileSystem and who wants to know, out comes the same FileSystem, whose operations
// they learn of.
//
//	fsys = observe.New(fsys, "repo", observe.Slog(slog.Default()))
//
// Each [Observer] is called before and after each operation, with an [Event]. What
// is done with it is the observer's own matter: [Slog] logs it, package audit keeps
// it in a file, adapters/otel makes spans and metrics of it, and a [Func] is a
// notification. Before an operation, an observer can refuse it.
//
// The place of the wrapper decides what is seen. Over a policy, it sees what the
// callers ask for, denials included; below, it sees what is done.
//
// # What an observer can and cannot do
//
// Observers get copies. They cannot change what an operation does or returns, but
// for a refusal before it. They are called by the goroutine of the caller, or at the
// end of a watch by another, one after the other, and an operation returns when all
// of them have: an observer that takes long makes every operation take long, so one
// that sends events over a network collects them in a channel of its own and drops
// what does not fit. A panic of an observer is a bug of the program and is not
// recovered; it reaches the caller, for whom an operation that was carried out then
// looks as if it had not been.
package observe
