package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/workspacekit/workspacekit/internal/errcode"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/tools/internal/edit"
	"github.com/workspacekit/workspacekit/workspace/patch"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// Error is a failed call, told to a model.
type Error struct {
	// Code is the stable kind of the error. [DialectFS] has fewer kinds.
	Code Code `json:"code"`
	// Message says what went wrong.
	Message string `json:"message"`
	// Path is the name or the pattern at fault, empty if there is none.
	Path string `json:"path,omitempty"`
	// Hint says what to do instead, if there is something to say.
	Hint string `json:"hint,omitempty"`
	// Retryable says that the same call may succeed later.
	Retryable bool `json:"retryable"`

	denied *policy.DeniedError // nil unless rules refuse the call
}

// Error implements the error interface.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap returns the [*policy.DeniedError] of a call that rules refuse, and else nil. So
// [errors.Is] tells [policy.ErrRefused] from [policy.ErrNoAnswer].
func (e *Error) Unwrap() error {
	if e.denied == nil {
		return nil
	}
	return e.denied
}

// text returns the error for a model: what failed, and on a line of its own what to do. A
// dialect with another form has a function in fail.
func (e *Error) text() string {
	if e.Hint == "" {
		return e.Error()
	}
	return e.Error() + "\n" + e.Hint
}

// argumentError says that arguments are not what a tool takes. Its code is
// [CodeInvalidArguments]. The hint may be empty.
type argumentError struct {
	message, hint string
	unknown       string // the parameter that the tool does not have, empty for other mistakes
}

func (e *argumentError) Error() string { return e.message }

// hintedError is an error that knows what to do about it. It has the kind and the path of
// err, and adds a hint that only the place of the error can know. Of several in one chain,
// the outermost counts.
type hintedError struct {
	err  error
	hint string
}

func (e *hintedError) Error() string { return e.err.Error() }
func (e *hintedError) Unwrap() error { return e.err }

// partlyDone is the error of a call that has made some of its changes: the same call would
// make those again.
type partlyDone struct{ *hintedError }

func (e partlyDone) Unwrap() error { return e.hintedError }

// explain makes of err what a model is told.
//
// op is the operation of the default set that the tool stands for. Hints may look into the
// workspace, within ctx, for a name that was meant. All texts are cut, as names, patterns and
// causes may be long. err must not be nil.
//
// An error of several files, such as those of a patch, has the path and the code of the
// first, and all messages.
func (ts *toolset) explain(ctx context.Context, op string, err error) *Error {
	var bad *argumentError
	if errors.As(err, &bad) {
		return &Error{Code: CodeInvalidArguments, Message: clip(bad.message, errorChars), Hint: clip(bad.hint, errorChars)}
	}
	path, message := describe(err)
	code := CodeOf(err)
	if all := causes(err); len(all) > 1 { // path is the name of the first
		code = CodeOf(all[0])
	}
	hint := ts.hint
	if ts.dialect.plain {
		hint = ts.plainHint
	}
	hinted := clip(hint(ctx, op, path, code, err), errorChars)
	closed := code == CodeUnavailable && errors.Is(err, fs.ErrClosed)
	if closed { // whatever a tool would advise otherwise, also about a command
		hinted = closedHint
	}
	unanswered := code == CodePolicy && errors.Is(err, policy.ErrNoAnswer)
	if ts.dialect.code != nil {
		code = ts.dialect.code(code)
	}
	denied, _ := errors.AsType[*policy.DeniedError](err)
	_, partly := errors.AsType[partlyDone](err)
	return &Error{
		Code:      code,
		Message:   clip(message, errorChars),
		Path:      clip(path, pathChars),
		Hint:      hinted,
		Retryable: (code.Retryable() && !closed || unanswered) && !partly,
		denied:    denied,
	}
}

// plainHint is [toolset.hint] for tools whose parameters have other names. Its own texts name
// no parameter.
func (ts *toolset) plainHint(ctx context.Context, _, path string, code Code, err error) string {
	if remedy := ops.RemedyOf(err); remedy != "" {
		return remedyHint(code, remedy)
	}
	var hinted *hintedError
	var notFound *edit.NotFoundError
	var inFile *fs.PathError
	switch {
	case errors.As(err, &notFound) && notFound.Nearest != nil:
		return fmt.Sprintf("The nearest text is on line %d:\n%s\nCopy the text as it is in the file. Nothing was written.", notFound.Nearest.Line, notFound.Nearest.Text)
	case code == CodeNotExist && errors.As(err, &inFile) && inFile.Op != ops.Rm && !errors.As(err, &hinted): // what a call did not name is not for it to remove
		if _, _, near := ts.nearName(policy.WithApprover(ctx, nil), path); near != "" && near != path {
			return fmt.Sprintf("Did you mean %q?", near)
		}
	case (code == CodeReadRequired || code == CodeConflict || code == CodeExist || code == CodeUnsupported) && errors.As(err, &hinted):
		return hinted.hint
	}
	return adviceOn(code, err)
}

// timedOut is what a model is told about a call that took too long. It is made without the
// error of the call. end says what has become of that: it was stopped, or may still run.
func (ts *toolset) timedOut(op, end string) *Error {
	return &Error{
		Code:      CodeTimeout,
		Message:   fmt.Sprintf("the call took longer than %v and %s", ts.timeout, end),
		Hint:      ts.timeoutHint(op) + slowStart,
		Retryable: CodeTimeout.Retryable(),
	}
}

// What has become of a call that took too long. The store of one that was given up ignores
// its context.
const (
	stopped = "was stopped"
	givenUp = "was given up; it may still run"
)

// slowStart is for a store that starts with the first call. A start that is stopped begins
// again with the next one.
const slowStart = " If every call ends like this, tell the user: a longer tools.timeout may help, as for a container that has to start."

// timeoutHint says what to do after a timeout. A call that changes something may have
// done so.
func (ts *toolset) timeoutHint(op string) string {
	switch op {
	case ops.Ls, ops.Tree, ops.Glob, ops.Grep:
		return "Ask for less: a directory further down, a narrower glob or fewer results."
	case ops.ReadFile, ops.ReadFiles, ops.Stat:
		return "Try a smaller file, or the same call again later."
	}
	return "It may have changed something" + ts.ifTool(ops.Stat, ": look with %s before you repeat it") + "."
}

// describe returns the path of err and its text without the operation, which
// the model knows.
//
// For the error of a read of src/a.go,
//
//	read_file src/a.go: file does not exist    src/a.go, "src/a.go: file does not exist"
//
// An error without a path keeps its text, and a text of the dialect is kept whole.
func describe(err error) (path, message string) {
	var pathError *fs.PathError
	var worded *wordedError
	switch {
	case !errors.As(err, &pathError):
		return "", err.Error()
	case errors.As(err, &worded):
		return pathError.Path, worded.text
	}
	if all := causes(err); len(all) > 1 {
		lines := []string{fmt.Sprintf("%d errors", len(all))}
		for _, one := range all {
			_, line := describe(one)
			lines = append(lines, line)
		}
		return pathError.Path, strings.Join(lines, "\n")
	}
	if pathError.Path == "" { // an empty pattern
		return "", pathError.Err.Error()
	}
	return pathError.Path, clip(onOneLine(pathError.Path), pathChars) + ": " + pathError.Err.Error()
}

// causes returns the errors of several files that were joined to err. It returns nil for one
// error, also if that has a kind and a cause: a *fs.PathError is one error, whatever it
// wraps.
func causes(err error) []error {
	var hinted *hintedError
	if errors.As(err, &hinted) {
		err = hinted.err
	}
	if _, one := err.(*fs.PathError); one {
		return nil
	}
	joined, _ := err.(interface{ Unwrap() []error })
	if joined == nil {
		return nil
	}
	return joined.Unwrap()
}

// Code is the stable name of a kind of error on the wire: in tool results,
// audit records and protocols.
type Code string

// The codes. They are never renamed. The first sentence of each comment says what
// happened, the rest what the caller can do; docs/errors.md is made of them.
const (
	// CodeNotExist says that the name does not exist. Look for it with ls or glob: the hint
	// may name a similar file.
	CodeNotExist Code = "FILE_NOT_FOUND"
	// CodeExist says that the name exists already. Choose another name, or leave createOnly
	// out.
	CodeExist Code = "FILE_ALREADY_EXISTS"
	// CodePermission says that the store refuses the operation. Work elsewhere, or ask the
	// user to check rights and credentials.
	CodePermission Code = "PERMISSION_DENIED"
	// CodeNotEmpty says that a directory with children would be deleted. List them first:
	// recursive deletes them. If ls shows none, ask the user.
	CodeNotEmpty Code = "DIRECTORY_NOT_EMPTY"
	// CodeInvalid says that the name is malformed, leads out of the workspace, or cannot be
	// used like this. Give another path from the root.
	CodeInvalid Code = "INVALID_PATH"
	// CodeIsDir says that there is a directory where a file is needed. List it with ls, or
	// copy it with recursive.
	CodeIsDir Code = "IS_A_DIRECTORY"
	// CodeNotDir says that there is a file where a directory is needed. Read it with
	// read_file, or correct the path.
	CodeNotDir Code = "NOT_A_DIRECTORY"
	// CodePattern says that a glob or regular expression is malformed, too long, or would take
	// too long. Correct it, or set literal in grep.
	CodePattern Code = "INVALID_PATTERN"
	// CodeTextNotFound says that the text to replace, or a line of a patch, is not there, or
	// not in this order. Copy it from the hint, or read the file again.
	CodeTextNotFound Code = "PATTERN_NOT_FOUND"
	// CodeTextNotUnique says that the text to replace occurs several times, or it occurs,
	// but not expectedCount times. Add the lines around it, or set replaceAll.
	CodeTextNotUnique Code = "PATTERN_NOT_UNIQUE"
	// CodeTooLarge says that a file, new content, a patch, a directory to copy, or what a change
	// deletes or replaces is above a limit. Split it, or ask the user to raise maxFileSizeMb.
	CodeTooLarge Code = "FILE_TOO_LARGE"
	// CodeBinary says that a file to edit has a NUL in its first 8 KiB and is not UTF-16, or
	// in some dialects one to read is not text. Replace the whole file with write_file.
	CodeBinary Code = "BINARY_FILE"
	// CodeConflict says that the file no longer has the expected version, or does not exist.
	// Read it again, and repeat the change; for a missing file, without ifVersion.
	CodeConflict Code = "VERSION_CONFLICT"
	// CodePolicy says that a setting of the workspace, also a quota, forbids the operation, a
	// patch changes .git, or nobody approved it. Work elsewhere, or ask the user.
	CodePolicy Code = "POLICY_DENIED"
	// CodeNoSpace says that the store, or its quota, is full. Ask the user for space.
	CodeNoSpace Code = "NO_SPACE"
	// CodeUnsupported says that the workspace cannot do this. Use another tool.
	CodeUnsupported Code = "UNSUPPORTED"
	// CodeUnavailable says that the store does not answer or is closed, or too many commands
	// run. Try again, or tell the user.
	CodeUnavailable Code = "UNAVAILABLE"
	// CodeTimeout says that the call took too long; a write may have taken place. Look before
	// you repeat it, or ask for less.
	CodeTimeout Code = "TIMEOUT"
	// CodeCanceled says that the caller canceled the call; a write may have taken place. Look
	// before you repeat it.
	CodeCanceled Code = "CANCELED"
	// CodeInternal says that no other code fits. Tell the user.
	CodeInternal Code = "INTERNAL"
	// CodeReadRequired says that with readBeforeWrite or call --session, the session has not
	// read the file, or all lines that it would change. Read it, and repeat the call.
	CodeReadRequired Code = "READ_REQUIRED"
	// CodeInvalidArguments says that the arguments do not fit the InputSchema of the tool,
	// each other or the file, a patch cannot be read, or there is no such tool; nothing was
	// written. Correct them as the message says.
	CodeInvalidArguments Code = "INVALID_ARGUMENTS"
)

// CodeOf returns the code of an [*Error], or else of the most specific kind of err, and
// [CodeInternal] for an error of no kind. CodeOf(nil) is empty. The kinds of the tools are
// tried before those of the contract.
func CodeOf(err error) Code {
	var failed *Error
	if errors.As(err, &failed) {
		return failed.Code
	}
	for _, kind := range kinds {
		if errors.Is(err, kind.err) {
			return kind.code
		}
	}
	return Code(errcode.Of(err))
}

// kinds are the kinds of errors that only the tools have.
var kinds = [...]struct {
	err  error
	code Code
}{
	{errReadRequired, CodeReadRequired},
	{edit.ErrTextNotFound, CodeTextNotFound},
	{edit.ErrTextNotUnique, CodeTextNotUnique},
	{edit.ErrPattern, CodePattern},
	{patch.ErrMismatch, CodeTextNotFound},
	{patch.ErrEncoding, CodeInvalidArguments},
}

// Retryable reports whether the same call may succeed later although the caller changes
// nothing. After a timeout of a change, the caller should look first whether it took place.
// [Error].Retryable is false all the same for an error of a closed workspace and of a call that
// has made some of its changes, and true for [CodePolicy] where nobody answered a question in time.
func (c Code) Retryable() bool {
	return c == CodeUnavailable || c == CodeTimeout
}
