package patch_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/patch"
	"github.com/workspacekit/workspacekit/workspace/transaction"
)

// The variable that makes a child process of this test binary.
const childDir = "PATCH_TEST_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := applyInChild(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	exhaustive.Quicken()
	os.Exit(m.Run())
}

// openFolder opens a folder with transactions.
func openFolder(dir string) (*workspace.Workspace, error) {
	folder, err := localbash.Open(dir, nil)
	if err != nil {
		return nil, err
	}
	fsys, err := transaction.New(folder, nil)
	if err != nil {
		return nil, err
	}
	return workspace.New("child", fsys, nil), nil
}

// applyInChild applies the patch that is on standard input. It prints a line before and
// after that.
func applyInChild(dir string) error {
	ws, err := openFolder(dir)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	p, err := patch.Parse(string(text))
	if err != nil {
		return err
	}
	plan, err := p.Plan(context.Background(), ws)
	if err != nil {
		return err
	}
	fmt.Println("begins")
	_, err = plan.Apply(context.Background())
	fmt.Println("ends")
	return err
}

// TestKill kills processes that apply patches of several files, at random moments: the
// patches are then applied whole or not at all.
func TestKill(t *testing.T) {
	exhaustive.Long(t)
	rounds := exhaustive.Some(t, "most kills", 1000, 30)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	whole, none, cut := 0, 0, 0
	longest := 20 * time.Millisecond // somewhat more than a patch takes, learned on the way
	commits(t, random, rounds+rounds/20, func(before, after tree, diff string) {
		if whole+none == rounds {
			return
		}
		dir := t.TempDir()
		if err := before.put(dir); err != nil {
			t.Fatal(err)
		}
		took := killChild(t, dir, diff, time.Duration(random.Int64N(int64(longest))))
		if longest += longest / 20; took > 0 {
			longest = (3*longest + took + took/2) / 4
		}
		if _, err := os.Stat(filepath.Join(dir, transaction.DefaultDir)); err == nil {
			cut++
		}
		ws, err := openFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := transaction.Recover(t.Context(), ws); err != nil {
			t.Fatalf("Recover() = %v\n%s", err, diff)
		}
		if infos, err := os.ReadDir(filepath.Join(dir, transaction.DefaultDir)); err == nil && len(infos) > 0 {
			t.Fatalf("Recover() has left %v", infos)
		}
		got := treeOf(t, ws) // without temporary files, which the next change in their directory removes
		switch {
		case cmp.Equal(before, got):
			none++
		case cmp.Equal(after, got):
			whole++
		default:
			t.Fatalf("the patch is applied in part (-before +got):\n%s\n%s", cmp.Diff(before, got), diff)
		}
	})
	t.Logf("%d patches whole, %d not at all, %d kills in a transaction", whole, none, cut)
	if exhaustive.On() && (whole == 0 || none == 0 || cut < rounds/10) {
		t.Error("too few kills met a patch")
	}
}

// killChild lets a child apply a patch to the files in dir, and kills it so long after it
// has begun. It returns how long the patch took if it has ended before, and else zero.
func killChild(t *testing.T, dir, diff string, after time.Duration) (took time.Duration) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	cmd.Stdin = strings.NewReader(diff)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("begins\n"))); err != nil {
		t.Fatalf("the child ended before it began: %v\n%s", err, diff)
	}
	began := time.Now()
	timer := time.AfterFunc(after, func() { cmd.Process.Kill() })
	defer timer.Stop()
	rest, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	took = time.Since(began)
	cmd.Wait() // whose error is the kill
	if !strings.Contains(string(rest), "ends") {
		return 0
	}
	return took
}
