package call

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/tools"
)

// sessionFile is the file that keeps a session between calls. Empty means none:
// the session ends with the call.
type sessionFile string

// load returns the session of the file, a new one if there is no such file.
func (f sessionFile) load() (*tools.Session, error) {
	session := tools.NewSession()
	if f == "" {
		return session, nil
	}
	data, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return session, nil
	}
	if err == nil {
		err = json.Unmarshal(data, session)
	}
	if err != nil {
		return nil, fmt.Errorf("--session: %w", err)
	}
	return session, nil
}

// save replaces the file by session. Of two calls at a time, one can replace what
// the other has just saved; a file that the other has read then has to be read
// again.
func (f sessionFile) save(session *tools.Session) error {
	if f == "" {
		return nil
	}
	data, err := json.Marshal(session)
	if err != nil {
		return term.Fail(err)
	}
	temp, err := os.CreateTemp(filepath.Dir(string(f)), ".session-*") // which only this user can read
	if err != nil {
		return fmt.Errorf("--session: %w", err)
	}
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), string(f))
	}
	if err != nil {
		os.Remove(temp.Name())
		return fmt.Errorf("--session: %w", err)
	}
	return nil
}
