package backup_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/backup"
)

// sessionsModel is what the files of four sessions must be.
type sessionsModel struct {
	now    map[string]string // the hash of each file, "" for one that does not exist
	writer map[string]string // the session that wrote a hash
	all    map[string]string // the content of a hash
}

// write notes a content of a session.
func (m *sessionsModel) write(name, session, content string) {
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(content)))
	m.now[name], m.writer[hash], m.all[hash] = hash, session, content
}

// undo notes a change that an undo reverted. It returns what the undo should not have
// done.
func (m *sessionsModel) undo(session string, c backup.Change) error {
	step := c.Steps[len(c.Steps)-1]
	switch now := m.now[c.Path]; {
	case c.Session != session:
		return fmt.Errorf("the undo of session %s reverted a change of %s", session, c.Session)
	case now != step.After.SHA256:
		return fmt.Errorf("the undo of session %s replaced %q, and its change left another content", session, m.all[now])
	case now != "" && m.writer[now] != session:
		return fmt.Errorf("the undo of session %s replaced %q of %s", session, m.all[now], m.writer[now])
	}
	m.now[c.Path] = step.Before.SHA256
	return nil
}

// TestSessions lets four sessions, each with a wrapper of its own over the same store,
// write and remove the same files and undo in any order. An undo brings back what its
// session replaced, or is refused; the bytes of another session are never replaced.
func TestSessions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		raw := memory.New(nil)
		var sessions []*backup.FS
		for range 4 {
			b, err := backup.New(raw, nil)
			if err != nil {
				t.Fatal(err)
			}
			sessions = append(sessions, b)
		}
		files := sessionsModel{now: map[string]string{}, writer: map[string]string{}, all: map[string]string{}}
		contents := 0
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				i, name := rapid.IntRange(0, 3).Draw(t, "session"), rapid.SampledFrom([]string{"a", "d/b", "d/c"}).Draw(t, "name")
				contents++
				content := fmt.Sprint("content ", contents)
				if _, err := sessions[i].WriteFile(session.WithID(ctx, fmt.Sprint(i)), name, []byte(content), nil); err != nil {
					t.Fatal(err)
				}
				files.write(name, fmt.Sprint(i), content)
			},
			"rm": func(t *rapid.T) {
				i, name := rapid.IntRange(0, 3).Draw(t, "session"), rapid.SampledFrom([]string{"a", "d/b", "d/c"}).Draw(t, "name")
				err := sessions[i].Rm(session.WithID(ctx, fmt.Sprint(i)), name, nil)
				if errors.Is(err, fs.ErrNotExist) {
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				files.now[name] = ""
			},
			"undo": func(t *rapid.T) {
				i := rapid.IntRange(0, 3).Draw(t, "session")
				opts := &backup.UndoOptions{Session: fmt.Sprint(i), All: rapid.Bool().Draw(t, "all")}
				changes, err := sessions[i].Undo(ctx, opts)
				if err != nil && !errors.Is(err, workspace.ErrConflict) && !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
				for _, c := range changes {
					if err := files.undo(opts.Session, c); err != nil {
						t.Fatal(err)
					}
				}
			},
			"": func(t *rapid.T) {
				for name, hash := range files.now {
					data, err := raw.ReadFile(ctx, name)
					if string(data) != files.all[hash] || (err != nil) != (hash == "") {
						t.Fatalf("%s is %q, %v, want %q", name, data, err, files.all[hash])
					}
				}
			},
		})
	})
}

// TestSessionsTogether lets four sessions write the same files at the same time through
// one wrapper and through several, and undo. Whatever was replaced without being undone
// is in the journal.
func TestSessionsTogether(t *testing.T) {
	exhaustive.Long(t)
	for _, shared := range []bool{true, false} {
		for provider, open := range providers {
			t.Run(fmt.Sprintf("%s/%t", provider, shared), func(t *testing.T) {
				t.Parallel()
				raw := open(t)
				one := newFS(t, raw, &backup.Options{Keep: 10_000})
				var group sync.WaitGroup
				for i := range 4 {
					b := one
					if !shared {
						b = newFS(t, raw, &backup.Options{Keep: 10_000})
					}
					group.Go(func() { writeAndUndo(t, b, fmt.Sprint(i)) })
				}
				group.Wait()
				checkJournal(t, one, raw)
			})
		}
	}
}

// writeAndUndo writes files in a session, and undoes what nobody has written since.
func writeAndUndo(t *testing.T, b *backup.FS, id string) {
	ctx := session.WithID(t.Context(), id)
	for i := range 25 {
		name := fmt.Sprint("file", i%3)
		if _, err := b.WriteFile(ctx, name, fmt.Append(nil, "session ", id, " write ", i), nil); err != nil {
			t.Error(err)
		}
		if i%5 == 4 {
			_, err := b.Undo(ctx, &backup.UndoOptions{Session: id})
			if err != nil && !errors.Is(err, workspace.ErrConflict) && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Undo = %v", err)
			}
		}
	}
}

// checkJournal follows the contents of each file through the journal. Every change must
// begin with what another one left, so that no content was replaced without a backup.
func checkJournal(t *testing.T, b *backup.FS, raw workspace.FileSystem) {
	t.Helper()
	changes, err := b.Changes(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	left := map[string][]string{} // hashes of contents that a change left, and no other replaced
	for _, c := range slices.Backward(changes) {
		for _, step := range c.Steps {
			left[step.Path] = append(left[step.Path], step.After.SHA256)
		}
	}
	for _, c := range changes {
		for _, step := range c.Steps {
			at := slices.Index(left[step.Path], step.Before.SHA256)
			if step.Before.SHA256 == "" {
				continue
			}
			if at < 0 {
				t.Errorf("change %d of %s replaced a content that no change left, or that two replaced", c.Number, step.Path)
				continue
			}
			left[step.Path] = slices.Delete(left[step.Path], at, at+1)
		}
	}
	for name, hashes := range left {
		hashes = slices.DeleteFunc(hashes, func(hash string) bool { return hash == "" })
		if len(hashes) > 1 {
			t.Errorf("%s: %d contents were left, and one is there", name, len(hashes))
		}
	}
}
