package acp

import (
	"context"
	"errors"
	"io/fs"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/workspacekit/workspacekit/internal/errcode"
	"github.com/workspacekit/workspacekit/workspace"
)

// The codes of errors that the SDK has no names for.
const (
	codePermission = -32000
	codeNotFound   = -32002
	codeParams     = -32602
)

// details is the data of an error about the path that was sent.
func details(sent, text string) map[string]any {
	data := map[string]any{"path": sent}
	if text != "" {
		data["details"] = text
	}
	return data
}

// permissionDenied returns the error of a file that may not be used. The text is about
// the path as the agent has sent it.
func permissionDenied(sent, text string) *sdk.RequestError {
	return &sdk.RequestError{Code: codePermission, Message: "Permission denied", Data: details(sent, text)}
}

// toAgent returns err, which an operation on the path has returned, as an agent gets
// it, and nil for nil.
func toAgent(sent string, err error) error {
	var refused refusedByEditor
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused): // whatever its cause is
		return permissionDenied(sent, shownText(err))
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return sdk.NewRequestCancelled(details(sent, ""))
	case errors.Is(err, fs.ErrNotExist):
		return &sdk.RequestError{Code: codeNotFound, Message: "Resource not found: " + sent, Data: map[string]any{"uri": sent}}
	case errors.Is(err, fs.ErrPermission), errors.Is(err, workspace.ErrEscape):
		return permissionDenied(sent, shownText(err))
	}
	return sdk.NewInternalError(details(sent, shownText(err)))
}

// shownText returns the text of an error that has the form of package workspace,
// which shows no path of the host, and "" for any other.
func shownText(err error) string {
	var pathError *fs.PathError
	if errcode.Of(err) == errcode.Internal || !errors.As(err, &pathError) {
		return ""
	}
	return pathError.Err.Error()
}
