package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/workspace"
)

// journal is the store of backups: a directory with the changes and one with the
// contents. Its errors have the kinds that a FileSystem may return for a change,
// and no other: see [storeError].
type journal struct {
	files       workspace.FileSystem // the exact view of the store
	dir         string
	conditional bool // the store has conditional writes
	limits      Options
	now         func() time.Time

	mu     sync.Mutex
	last   int64             // guarded by mu; the greatest number that is known, 0 for none
	cached map[int64]*Change // guarded by mu; changes that are done, which nobody changes
	since  int               // guarded by mu; changes since the last prune
	bytes  int64             // guarded by mu; bytes kept since the last prune
}

// newJournal returns the journal that o describe.
func newJournal(o Options) (*journal, error) {
	exact, err := workspace.Exact(o.Store)
	if err != nil {
		return nil, ops.Rename(err, ops.Backup, o.Dir)
	}
	if err := ops.CheckName(o.Dir); err != nil {
		return nil, ops.Error(ops.Backup, o.Dir, err, nil)
	}
	return &journal{
		files: exact, dir: o.Dir, conditional: workspace.CapabilitiesOf(o.Store).ConditionalWrite, limits: o,
		now: time.Now, cached: map[int64]*Change{},
	}, nil
}

// changesDir and contentsDir are the directories of the store.
func (j *journal) changesDir() string  { return j.dir + "/journal" }
func (j *journal) contentsDir() string { return j.dir + "/objects" }

// nameOf returns the name of the change number, and fileOf its last element.
func (j *journal) nameOf(number int64) string { return j.changesDir() + "/" + fileOf(number) }
func fileOf(number int64) string              { return fmt.Sprintf("%012d.json", number) }

// maxNumber is a number that no journal comes to: three changes a second for a thousand years.
// Up to it, names are in the order of their numbers. A file with a greater one is no change, and
// new changes must not get their numbers after it.
const maxNumber = 99_999_999_999

// numberOf returns the number of the change with the given name, 0 for a name that
// is no change.
func numberOf(name string) int64 {
	number, err := strconv.ParseInt(strings.TrimSuffix(name, ".json"), 10, 64)
	if err != nil || number > maxNumber || fileOf(number) != name {
		return 0
	}
	return number
}

// keep stores data, which is the content of a file of that version, and returns the
// state of the file. The same bytes are stored once in an epoch, and not for a change that is
// not [session.Undoable].
func (j *journal) keep(ctx context.Context, data []byte, version workspace.Version) (State, error) {
	s := State{Type: workspace.TypeFile, Size: int64(len(data)), Version: version, SHA256: hashOf(data)}
	if !session.Undoable(ctx) {
		return s, nil
	}
	s.Kept = epochOf(j.now())
	j.mu.Lock()
	j.bytes += s.Size
	j.mu.Unlock()
	return s, j.create(ctx, j.contentsDir()+"/"+s.contentName(), data, true)
}

// hashOf returns the SHA-256 of data in hexadecimal digits.
func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// create writes a new file. If there is one of that name, it is fs.ErrExist, or no
// error if exists is set, which is for contents: their names say what they hold.
func (j *journal) create(ctx context.Context, name string, data []byte, exists bool) error {
	if !j.conditional { // then this process is the only one
		if _, err := j.files.Stat(ctx, name); err == nil {
			return existError(exists)
		}
		return j.write(ctx, name, data, nil)
	}
	err := j.write(ctx, name, data, &workspace.WriteOptions{IfNotExist: true})
	if errors.Is(err, fs.ErrExist) {
		return existError(exists)
	}
	return err
}

// write writes a file of the store, for the user alone where there are modes: what it holds may
// come from private files.
func (j *journal) write(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) error {
	_, err := j.files.WriteFile(session.WithPrivate(ctx), name, data, opts)
	return err
}

func existError(allowed bool) error {
	if allowed {
		return nil
	}
	return fs.ErrExist
}

// content returns the bytes of a file that was kept.
func (j *journal) content(ctx context.Context, s State) ([]byte, error) {
	data, _, err := workspace.ReadVersioned(ctx, j.files, j.contentsDir()+"/"+s.contentName(), max(s.Size, 1))
	if err != nil {
		return nil, err
	}
	if hashOf(data) != s.SHA256 {
		return nil, errors.New("they are damaged")
	}
	return data, nil
}

// cause returns what an error says beside the operation and the name.
func cause(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}

// maxNumbers is how many numbers an add tries while other processes add changes,
// too.
const maxNumbers = 1000

// add appends c, and sets its number to the next one that nobody has.
func (j *journal) add(ctx context.Context, c *Change) error {
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	for range maxNumbers {
		if c.Number, err = j.next(ctx); err != nil {
			return err
		}
		err = j.create(ctx, j.nameOf(c.Number), data, false)
		if err == nil {
			var overtaken bool
			if overtaken, err = j.overtaken(ctx, c.Number); err == nil && !overtaken {
				return nil
			}
			_ = j.remove(ctx, c.Number) // what stays has changed nothing
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		j.forget()
	}
	return ops.Error(ops.Backup, j.dir, workspace.ErrUnavailable, errors.New("other programs take every number of the journal"))
}

// overtaken reports whether others have added changes after all that are known, number among
// them: it was free because they have pruned theirs. The oldest are pruned first, so if the one
// before it is there, which is quicker to see, they have not.
func (j *journal) overtaken(ctx context.Context, number int64) (bool, error) {
	if !j.conditional { // then there are no others
		return false, nil
	}
	if _, err := j.files.Stat(ctx, j.nameOf(number-1)); err == nil {
		return false, nil
	}
	j.mu.Lock()
	known := max(j.last, number)
	j.mu.Unlock()
	numbers, err := j.numbers(ctx, known)
	return len(numbers) > 0, err
}

// try finds out whether c could be appended. Only a journal that has begun is written to, and c
// is removed again, so nothing stays of it.
func (j *journal) try(ctx context.Context, c *Change) error {
	_, err := j.files.Stat(ctx, j.changesDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = j.add(ctx, c)
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	_ = j.remove(ctx, c.Number) // if this fails, changes can be made nevertheless
	return nil
}

// next returns a number greater than all that are known. The first time, and after
// forget, it looks at the store. mu is not held while it does: two callers may get
// one number there, and add lets one of them try again.
func (j *journal) next(ctx context.Context) (int64, error) {
	j.mu.Lock()
	known := j.last > 0
	if known {
		j.last++
	}
	number := j.last
	j.mu.Unlock()
	if known {
		return number, nil
	}
	numbers, err := j.numbers(ctx, 0)
	if err == nil && len(numbers) == 0 {
		err = j.ignore(ctx)
	}
	if err != nil {
		return 0, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(numbers) > 0 {
		j.last = max(j.last, numbers[len(numbers)-1])
	}
	j.last++
	return j.last, nil
}

// ignore tells git to leave the backups alone, where the store is in a repository:
// they may be contents that nobody wants to publish.
func (j *journal) ignore(ctx context.Context) error {
	return j.create(ctx, j.dir+"/.gitignore", []byte("*\n"), true)
}

// forget makes next look at the store again.
func (j *journal) forget() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last = 0
}

// numbers returns the numbers of the changes after a number, in order.
func (j *journal) numbers(ctx context.Context, after int64) ([]int64, error) {
	infos, err := j.files.Ls(ctx, j.changesDir(), &workspace.LsOptions{After: fileOf(after)})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var numbers []int64
	for _, info := range infos {
		if number := numberOf(info.Name); number > 0 {
			numbers = append(numbers, number)
		}
	}
	return numbers, err
}

// update replaces c, which is done, in the journal.
func (j *journal) update(ctx context.Context, c *Change) error {
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if err = j.write(ctx, j.nameOf(c.Number), data, nil); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.cached[c.Number] = c
	return nil
}

// remove removes the change number.
func (j *journal) remove(ctx context.Context, number int64) error {
	j.mu.Lock()
	delete(j.cached, number)
	j.mu.Unlock()
	err := j.files.Rm(ctx, j.nameOf(number), nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// maxRecord is how many bytes of a change are read: 100,000 names of a directory
// that was moved fit.
const maxRecord = 64 << 20

// changes returns the changes, the oldest first. It leaves out what is damaged, and
// what another process removes at the moment.
func (j *journal) changes(ctx context.Context) ([]*Change, error) {
	numbers, err := j.numbers(ctx, 0)
	if err != nil {
		return nil, err
	}
	j.mu.Lock()
	maps.DeleteFunc(j.cached, func(number int64, _ *Change) bool { return len(numbers) == 0 || number < numbers[0] })
	j.mu.Unlock()
	var all []*Change
	for _, number := range numbers {
		c, err := j.change(ctx, number)
		if err != nil {
			return nil, err
		}
		if c != nil {
			all = append(all, c)
		}
	}
	return all, nil
}

// change returns the change number, nil if there is none that can be decoded.
func (j *journal) change(ctx context.Context, number int64) (*Change, error) {
	j.mu.Lock()
	c := j.cached[number]
	j.mu.Unlock()
	if c != nil {
		return c, nil
	}
	data, _, err := workspace.ReadVersioned(ctx, j.files, j.nameOf(number), maxRecord)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, workspace.ErrIsDir), errors.Is(err, workspace.ErrTooLarge):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if c, err = decode(data, number); err != nil {
		return nil, nil
	}
	if c.Done {
		j.mu.Lock()
		j.cached[number] = c
		j.mu.Unlock()
	}
	return c, nil
}

// decode returns the change in an object of the journal. The object may have been
// written by anybody who can write to the store, so names are checked.
func decode(data []byte, number int64) (*Change, error) {
	c := &Change{Number: number}
	if err := json.Unmarshal(data, c); err != nil {
		return nil, err
	}
	for _, step := range c.Steps {
		if err := ops.CheckName(step.Path); err != nil {
			return nil, err
		}
		for _, s := range []State{step.Before, step.After} {
			if s.SHA256 != "" && !isHash(s.SHA256) || s.SHA256 == "" && s.Kept != 0 {
				return nil, errors.New("not a hash")
			}
		}
	}
	moves := c.Op == ops.Move || c.Op == ops.Copy
	if ops.CheckName(c.Path) != nil || moves && ops.CheckName(c.To) != nil || !session.Valid(c.Session) {
		return nil, errors.New("not a change")
	}
	return c, nil
}

// isHash reports whether s is 64 hexadecimal digits, so that it is part of a name
// as it is.
func isHash(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) == hashLength
}

// storeKinds are the kinds of error of the store that a change may have. Any other
// would be mistaken for one about the file that changes: fs.ErrNotExist, say.
var storeKinds = []error{context.Canceled, context.DeadlineExceeded, workspace.ErrNoSpace, fs.ErrPermission, workspace.ErrUnavailable}

// storeError returns the error of a change for which the store failed to do what.
func storeError(op, name, what string, err error) error {
	return storeErrorOr(workspace.ErrUnavailable, op, name, what, err)
}

// storeErrorOr is storeError with the kind of what is none of the storeKinds.
func storeErrorOr(other error, op, name, what string, err error) error {
	why := fmt.Errorf("%s: %s", what, cause(err))
	for _, kind := range storeKinds {
		if errors.Is(err, kind) {
			return ops.Error(op, name, kind, why)
		}
	}
	return ops.Error(op, name, other, why)
}
