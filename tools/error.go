package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// Error is a failed call, told to a model.
type Error struct {
	// Code is the stable kind of the error: what [CodeOf] returns, or
	// [CodeInvalidArguments].
	Code Code `json:"code"`
	// Message says what went wrong.
	Message string `json:"message"`
	// Path is the name at fault, empty if there is none.
	Path string `json:"path,omitempty"`
	// Hint says what to do instead, if there is something to say.
	Hint string `json:"hint,omitempty"`
	// Retryable says that the same call may succeed later.
	Retryable bool `json:"retryable"`
}

// Error implements the error interface.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

func (e *Error) text() string {
	if e.Hint == "" {
		return e.Error()
	}
	return e.Error() + "\n" + e.Hint
}

// argumentError says that arguments are not what a tool takes.
type argumentError struct {
	message, hint string
}

func (e *argumentError) Error() string { return e.message }

// hintedError is an error that knows what to do about it.
type hintedError struct {
	err  error
	hint string
}

func (e *hintedError) Error() string { return e.err.Error() }
func (e *hintedError) Unwrap() error { return e.err }

// explain makes of err what a model is told.
func (k *kit) explain(ctx context.Context, op string, err error) *Error {
	var bad *argumentError
	if errors.As(err, &bad) {
		return &Error{Code: CodeInvalidArguments, Message: clip(bad.message, errorChars), Hint: clip(bad.hint, errorChars)}
	}
	path, message := describe(err)
	code := CodeOf(err)
	return &Error{
		Code:      code,
		Message:   clip(message, errorChars),
		Path:      clip(path, pathChars),
		Hint:      clip(k.hint(ctx, op, path, code, err), errorChars),
		Retryable: code.Retryable(),
	}
}

// timedOut is what a model is told about a call that took too long.
func (k *kit) timedOut(op string) *Error {
	return &Error{
		Code:      CodeTimeout,
		Message:   fmt.Sprintf("the call took longer than %v and was stopped", k.timeout),
		Hint:      k.timeoutHint(op),
		Retryable: CodeTimeout.Retryable(),
	}
}

// describe returns the path of err and its text without the operation, which
// the model knows.
func describe(err error) (path, message string) {
	var pathError *fs.PathError
	if !errors.As(err, &pathError) {
		return "", err.Error()
	}
	return pathError.Path, clip(pathError.Path, pathChars) + ": " + pathError.Err.Error()
}
