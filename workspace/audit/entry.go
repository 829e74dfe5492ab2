package audit

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"time"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/observe"
)

// Entry is a line of a log: a header, an operation, or either of them after a line
// that was cut short.
type Entry struct {
	// Log is set in a header, and then there is no operation.
	Log *Header `json:"log,omitempty"`
	// Torn is how many bytes the line before has, if that was cut short. There is
	// no operation then.
	Torn int `json:"torn,omitempty"`
	// Time is when the operation began.
	Time time.Time `json:"time"`
	// Session, Workspace, Op, Path, To, Command, VersionBefore, VersionAfter, Edit,
	// Bytes, Decision, Rule and Code are those of [observe.Event]. Path, To and Command
	// begin with "hmac:" if they are hashed, and are cut after 4,096 bytes.
	Session       string            `json:"session,omitempty"`
	Workspace     string            `json:"workspace,omitempty"`
	Op            string            `json:"op,omitempty"`
	Path          string            `json:"path,omitempty"`
	To            string            `json:"to,omitempty"`
	Command       string            `json:"command,omitempty"`
	VersionBefore workspace.Version `json:"versionBefore,omitempty"`
	VersionAfter  workspace.Version `json:"versionAfter,omitempty"`
	Edit          bool              `json:"edit,omitempty"`
	Bytes         int64             `json:"bytes,omitempty"`
	Decision      observe.Decision  `json:"decision,omitempty"`
	Rule          string            `json:"rule,omitempty"`
	Code          string            `json:"code,omitempty"`
	// DurationNs is how long the operation took, in nanoseconds.
	DurationNs int64 `json:"durationNs,omitempty"`
	// Prev is the SHA-256 of the line before, without its line end, in hexadecimal
	// digits. In a header it is empty, or of the last line of the file that this one
	// continues.
	Prev string `json:"prev"`
}

// Header is what a log says of itself.
type Header struct {
	// Version is the version of the format: 1.
	Version int `json:"version"`
	// Seed makes the hashes of each log different.
	Seed string `json:"seed"`
	// Number counts the files of the log, from 1.
	Number int `json:"number,omitempty"`
	// Oldest is the number of the oldest file that is kept beside this one.
	Oldest int `json:"oldest,omitempty"`
}

// formatVersion is the version of the format.
const formatVersion = 1

// maxText is how many bytes of a text are kept, and maxLine how long a line can then
// be, as JSON spells a byte with six at most.
const (
	maxText = 4096
	maxLine = 128 << 10
)

// newHeader returns the first line of a file that continues the line prev.
func newHeader(prev string, number, oldest int) Entry {
	head := &Header{Version: formatVersion, Seed: rand.Text(), Number: number, Oldest: oldest}
	return Entry{Log: head, Time: time.Now().UTC(), Prev: prev}
}

// newEntry returns the line for e. Its names are hashed if there is a key.
func newEntry(e observe.Event, key []byte) Entry {
	return Entry{
		Time: e.Time.UTC(), DurationNs: e.Duration.Nanoseconds(),
		Session: clip(e.Session), Workspace: clip(e.Workspace), Op: clip(e.Op),
		Path: HashPath(key, e.Path), To: HashPath(key, e.To), Command: HashPath(key, e.Command),
		VersionBefore: workspace.Version(clip(string(e.VersionBefore))),
		VersionAfter:  workspace.Version(clip(string(e.VersionAfter))),
		Edit:          e.Edit, Bytes: e.Bytes, Decision: e.Decision, Rule: clip(e.Rule), Code: clip(e.Code),
	}
}

// clip returns the beginning of text that is kept.
func clip(text string) string {
	if len(text) <= maxText {
		return text
	}
	end := maxText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// HashPath returns what a log with the given key has for a path: "hmac:" and the
// first 16 bytes of its HMAC-SHA-256. Without a key, and for no path, it is the path
// itself. A plain hash would hide nothing: who has a list of likely names can hash
// them all.
func HashPath(key []byte, path string) string {
	if len(key) == 0 || path == "" {
		return clip(path)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(path))
	return "hmac:" + hex.EncodeToString(mac.Sum(nil)[:16])
}

// encode returns the line of e, with its line end, and its hash.
func (e Entry) encode() (line []byte, hash string, err error) {
	line, err = json.Marshal(e)
	if err != nil {
		return nil, "", err
	}
	return append(line, '\n'), hashOf(line), nil
}

// hashOf returns the hash of a line without its line end.
func hashOf(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:])
}

// keyBytes is how long a key is.
const keyBytes = 32

// LoadKey returns the key in the file path, which it creates with a random one, for its
// owner alone to read, if there is no such file.
//
// # Errors
//
// A file that cannot be read or created, is not regular, or has no key.
func LoadKey(path string) ([]byte, error) {
	for range 2 { // another process can create it between the two steps
		key, err := readKey(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return key, err
		}
		key, err = createKey(path)
		if !errors.Is(err, fs.ErrExist) {
			return key, err
		}
	}
	return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is a symlink to a missing file: remove it, or name another file")}
}

// readKey returns the key in the file path.
func readKey(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() { // reading a FIFO could block
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("it is not a regular file")}
	}
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(string(trimEnd(text)))
	if err != nil || len(key) != keyBytes {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("it has no key: name another file, which is then created")}
	}
	return key, nil
}

// trimEnd returns line without its line end.
func trimEnd(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		return line[:n-1]
	}
	return line
}

// createKey creates the file of a key under another name, and then links it, so that
// of two processes the second gets [fs.ErrExist], and can read the key of the first.
func createKey(path string) ([]byte, error) {
	key := make([]byte, keyBytes)
	rand.Read(key) // never fails
	temp := path + "." + rand.Text()
	defer os.Remove(temp)
	if err := os.WriteFile(temp, []byte(hex.EncodeToString(key)+"\n"), 0o600); err != nil {
		return nil, err
	}
	if err := os.Link(temp, path); err != nil {
		return nil, err
	}
	return key, nil
}
