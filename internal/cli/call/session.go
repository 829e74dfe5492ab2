package call

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace/config"
	"github.com/workspacekit/workspacekit/workspace/quota"
)

// sessionFile is the file that keeps a session between calls. Empty means none:
// the session ends with the call.
type sessionFile string

// stored is what the file has beside the JSON form of a session.
type stored struct {
	// Quotas are what the session has written in the workspaces that have a quota.
	Quotas map[string]quota.Usage `json:"quotas,omitempty"`
}

// resolve returns the file that f leads to if it is a symlink, so that save replaces that file.
// What exists and is not a regular file is an error, as save would replace it.
func (f sessionFile) resolve() (sessionFile, error) {
	named, err := os.Lstat(string(f))
	if err != nil {
		return f, nil // load says what is wrong, unless the session is new
	}
	path := string(f)
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err == nil && named.Mode().Type() == fs.ModeSymlink {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", fmt.Errorf("--session %q: %s: name another file", f, term.Plain(err))
	}
	return sessionFile(path), nil
}

// load returns the session of the file, a new one if there is no such file, and lets it
// continue in ws. A file that is not a session is an error, and is never replaced.
func (f sessionFile) load(ctx context.Context, ws *config.Workspace) (*tools.Session, stored, error) {
	session, more := tools.NewSession(), stored{}
	if f == "" {
		return session, more, nil
	}
	data, err := target.ReadFile(ctx, string(f), target.MaxInput)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Dir(string(f))); err != nil {
			return nil, more, fmt.Errorf("--session %q: its folder: %s: create the folder first, or correct the path", f, term.Plain(err))
		}
		return session, more, nil
	}
	if err == nil {
		err = json.Unmarshal(data, session)
	}
	if err == nil {
		err = json.Unmarshal(data, &more)
	}
	if before, ok := more.Quotas[ws.Name()]; ok && err == nil && ws.Quota() != nil {
		err = ws.Quota().Resume(session.ID(), before)
	}
	if err != nil {
		return nil, more, fmt.Errorf("--session %q: no session can be read from it: %s", f, term.Plain(err))
	}
	return session, more, nil
}

// save replaces the file by session, what it has written in ws, and more. Of two calls at a
// time, one can replace what the other has just saved; a file that the other has read then has
// to be read again, and what it has written does not count. The file is written beside and
// renamed, so a reader finds the old session or the new one. Only this user can read it: it
// says what an agent has read.
func (f sessionFile) save(session *tools.Session, ws *config.Workspace, more stored) error {
	if f == "" {
		return nil
	}
	if ws.Quota() != nil {
		if more.Quotas == nil {
			more.Quotas = map[string]quota.Usage{}
		}
		more.Quotas[ws.Name()] = ws.Quota().Used(session.ID())
	}
	data, err := encode(session, more)
	if err != nil {
		return term.Fail(err)
	}
	temp, err := os.CreateTemp(filepath.Dir(string(f)), ".session-*") // which only this user can read
	if err != nil {
		return term.Failf("--session %q: the session cannot be stored: %w", f, term.Cause(err))
	}
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), string(f))
	}
	if err != nil {
		os.Remove(temp.Name())
		return term.Failf("--session %q: the session cannot be stored: %w", f, term.Cause(err))
	}
	return nil
}

// encode returns session and more as one JSON object.
func encode(session *tools.Session, more stored) ([]byte, error) {
	data, err := json.Marshal(session)
	if err != nil {
		return nil, err
	}
	if len(more.Quotas) == 0 {
		return data, nil
	}
	object := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &object); err != nil {
		return nil, err
	}
	if object["quotas"], err = json.Marshal(more.Quotas); err != nil {
		return nil, err
	}
	return json.Marshal(object)
}
