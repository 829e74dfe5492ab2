package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
	"github.com/workspacekit/workspacekit/workspace/kind"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// patient is a FileSystem that has something wrong with it.
type patient struct {
	*memory.FS
	write func(name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error)
	rm    func(name string) error
	watch func(ctx context.Context) (<-chan workspace.Event, error)
	caps  func(*workspace.Capabilities)
	run   func(opts *workspace.RunOptions) (*workspace.RunResult, error) // nil if it runs no commands
}

// Run implements [workspace.Runner].
func (p *patient) Run(_ context.Context, opts *workspace.RunOptions) (*workspace.RunResult, error) {
	return p.run(opts)
}

// Exact implements [workspace.Exacter]: the view is as ill as the patient.
func (p *patient) Exact() (workspace.FileSystem, error) { return p, nil }

func (p *patient) Capabilities() workspace.Capabilities {
	c := p.FS.Capabilities()
	c.Run = p.run != nil
	if p.caps != nil {
		p.caps(&c)
	}
	return c
}

func (p *patient) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	if p.write != nil {
		return p.write(name, data, opts)
	}
	return p.FS.WriteFile(ctx, name, data, opts)
}

func (p *patient) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	if p.rm != nil {
		return p.rm(name)
	}
	return p.FS.Rm(ctx, name, opts)
}

func (p *patient) Watch(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
	if p.watch != nil {
		return p.watch(ctx)
	}
	return p.FS.Watch(ctx, dir, opts)
}

// examine returns what a doctor finds of fsys.
func examine(ctx context.Context, fsys workspace.FileSystem) report {
	d := &diagnosis{timeout: 10 * time.Second, target: target.Target{Name: "w", Kind: "other",
		Open: func(ctx context.Context) (*config.Workspace, error) { return open(ctx, fsys) }}}
	return d.run(ctx)
}

// unclosed is a FileSystem that can be looked into after it has been closed.
type unclosed struct{ workspace.FileSystem }

func (u unclosed) Unwrap() workspace.FileSystem { return u.FileSystem }
func (unclosed) Close() error                   { return nil }

// open returns the workspace of a provider that only has fsys. A rule asks about commands.
func open(ctx context.Context, fsys workspace.FileSystem) (*config.Workspace, error) {
	r := &config.Registry{}
	err := r.Register("other", kind.Kind{
		Options: struct{}{}, Scheme: "other",
		ParseURL: func(string) (any, error) { return struct{}{}, nil },
		Open:     func(context.Context, kind.Input) (workspace.FileSystem, error) { return unclosed{fsys}, nil },
	})
	if err != nil {
		return nil, err
	}
	return r.OpenURL(ctx, "w", "other://", config.FS{Rules: []policy.Rule{{Paths: []string{"**"}, Ask: []policy.Op{policy.OpRun}}}})
}

// told returns what was found in short: "write fail: detail [remedy]".
func told(c report, probe string) string {
	for _, f := range c.Probes {
		if f.Name == probe {
			return fmt.Sprintf("%s: %s [%s]", f.Status, f.Detail, f.Remedy)
		}
	}
	return ""
}

// remains returns the names in a workspace.
func remains(t *testing.T, fsys workspace.FileSystem) []string {
	t.Helper()
	names, err := fsys.Glob(t.Context(), "**", nil)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestDoctorFinds(t *testing.T) {
	store := func(m *memory.FS, name string, data []byte) (workspace.Version, error) {
		return m.WriteFile(context.Background(), name, data, nil)
	}
	tests := []struct {
		name, probe, want string
		patient           func(m *memory.FS, p *patient)
	}{
		{
			"changed-bytes", probeWrite, "fail: 281 bytes were written, and 282 others read back [Do not use this store: it does not keep files as they are.]",
			func(m *memory.FS, p *patient) {
				p.write = func(name string, data []byte, _ *workspace.WriteOptions) (workspace.Version, error) {
					return store(m, name, append(data, '\n'))
				}
			},
		},
		{
			"refused-write", probeWrite, "fail: permission denied [Get the right to write, or set readOnly under fs.]",
			func(_ *memory.FS, p *patient) {
				p.write = func(name string, _ []byte, _ *workspace.WriteOptions) (workspace.Version, error) {
					return "", ops.Error(ops.WriteFile, name, fs.ErrPermission, nil)
				}
			},
		},
		{
			"ignored-create-only", probeConditional, "fail: a write that may only create the file has replaced it [Let one program at a time write here.]",
			func(m *memory.FS, p *patient) {
				p.write = func(name string, data []byte, _ *workspace.WriteOptions) (workspace.Version, error) {
					return store(m, name, data)
				}
			},
		},
		{
			"ignored-version", probeConditional, "fail: a write to an old version of the file has replaced the new one [Let one program at a time write here.]",
			func(m *memory.FS, p *patient) {
				p.write = func(name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
					if opts != nil && opts.IfVersion != "" {
						opts = nil
					}
					return m.WriteFile(context.Background(), name, data, opts)
				}
			},
		},
		{
			"no-version", probeConditional, "fail: a write returned no version, so no later write can be conditional on it [Let one program at a time write here.]",
			func(m *memory.FS, p *patient) {
				p.write = func(name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
					_, err := m.WriteFile(context.Background(), name, data, opts)
					return "", err
				}
			},
		},
		{
			"no-conditions", probeConditional, "warn: not supported: of two writers at the same time the last one wins [Let one program at a time write here.]",
			func(_ *memory.FS, p *patient) {
				p.caps = func(c *workspace.Capabilities) { c.ConditionalWrite = false }
			},
		},
		{
			"silent-watch", probeWatch, "fail: native, and no event in 10s for a file that was written [Do not rely on a watch here: list the directory again instead. A folder that another computer shares may report nothing.]",
			func(_ *memory.FS, p *patient) {
				p.watch = func(ctx context.Context) (<-chan workspace.Event, error) {
					events := make(chan workspace.Event)
					context.AfterFunc(ctx, func() { close(events) })
					return events, nil
				}
			},
		},
		{
			"no-commands", probeRun, "",
			func(*memory.FS, *patient) {},
		},
		{
			"refused-command", probeRun, "fail: unsupported operation: \"a\" is a symlink [Name what it leads to.]",
			func(_ *memory.FS, p *patient) {
				p.run = func(*workspace.RunOptions) (*workspace.RunResult, error) {
					return nil, ops.Error(ops.Run, ".", errors.ErrUnsupported, fmt.Errorf("\"a\" is a symlink: %w", ops.Remedy("name what it leads to")))
				}
			},
		},
		{
			"no-shell", probeRun, "fail: file does not exist [Install sh where the commands run, or correct PATH.]",
			func(_ *memory.FS, p *patient) {
				p.run = func(*workspace.RunOptions) (*workspace.RunResult, error) {
					return nil, ops.Error(ops.Run, "sh", fs.ErrNotExist, nil)
				}
			},
		},
		{
			"failed-command", probeRun, "fail: sh -c true ended with the exit code 1 [Correct that where the commands run, and try again.]",
			func(_ *memory.FS, p *patient) {
				p.run = func(*workspace.RunOptions) (*workspace.RunResult, error) {
					return &workspace.RunResult{ExitCode: 1}, nil
				}
			},
		},
		{
			"command", probeRun, "ok: sh runs []",
			func(_ *memory.FS, p *patient) {
				p.run = func(*workspace.RunOptions) (*workspace.RunResult, error) { return &workspace.RunResult{}, nil }
			},
		},
		{
			"ended-watch", probeWatch, "fail: native, and no event in 10s for a file that was written [Do not rely on a watch here: list the directory again instead. A folder that another computer shares may report nothing.]",
			func(_ *memory.FS, p *patient) {
				p.watch = func(context.Context) (<-chan workspace.Event, error) {
					events := make(chan workspace.Event)
					close(events)
					return events, nil
				}
			},
		},
		{
			"no-watch", probeWatch, "skip: not supported []",
			func(_ *memory.FS, p *patient) {
				p.caps = func(c *workspace.Capabilities) { c.Watch = workspace.WatchNone }
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := memory.New(nil)
				p := &patient{FS: m}
				test.patient(m, p)
				found := examine(t.Context(), p)
				if got := told(found, test.probe); got != test.want {
					t.Errorf("%s = %q, want %q", test.probe, got, test.want)
				}
				if fails := strings.HasPrefix(test.want, "fail"); found.OK == fails {
					t.Errorf("OK = %t, want %t", found.OK, !fails)
				}
				if left := remains(t, m); len(left) > 0 {
					t.Errorf("the doctor left %q", left)
				}
			})
		})
	}
}

// TestDoctorReadsNoLargeFile tests what is said if no file is worth a read.
func TestDoctorReadsNoLargeFile(t *testing.T) {
	m := memory.New(nil)
	if _, err := m.WriteFile(t.Context(), "large", make([]byte, maxRead+1), nil); err != nil {
		t.Fatal(err)
	}
	if got, want := told(examine(t.Context(), m), probeRead), "ok: 1 entry, none a file of at most 1 MiB []"; got != want {
		t.Errorf("read = %q, want %q", got, want)
	}
}

// TestDoctorFileThatStays tests that a file that cannot be removed is named.
func TestDoctorFileThatStays(t *testing.T) {
	m := memory.New(nil)
	found := examine(t.Context(), &patient{FS: m, rm: func(name string) error {
		return ops.Error(ops.Rm, name, fs.ErrPermission, nil)
	}})
	left := remains(t, m)
	if len(left) != 1 || found.left != left[0] || found.OK {
		t.Fatalf("left = %q, OK = %t, want the file of %q and false", found.left, found.OK, left)
	}
	want := "fail: " + left[0] + " could not be removed: permission denied " +
		"[Remove that file by hand. Get the right to do this, or choose another place.]"
	if got := told(found, probeCleanUp); got != want {
		t.Errorf("%s = %q, want %q", probeCleanUp, got, want)
	}
}

// TestDoctorInterrupted ends the run at each write in turn: nothing is left.
func TestDoctorInterrupted(t *testing.T) {
	for n := range 5 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			m := memory.New(nil)
			writes := 0
			found := examine(ctx, &patient{FS: m, write: func(name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
				version, err := m.WriteFile(context.Background(), name, data, opts)
				if writes++; writes > n {
					cancel()
					return "", ops.Error(ops.WriteFile, name, context.Canceled, nil)
				}
				return version, err
			}})
			if writes != n+1 {
				t.Errorf("%d writes after the interruption of number %d", writes, n+1)
			}
			if left := remains(t, m); len(left) > 0 || found.left != "" {
				t.Errorf("the doctor left %q", left)
			}
			if told(found, probeSize) != "" {
				t.Error("the doctor went on after the interruption")
			}
		})
	}
}

// TestDoctorLeavesTheFileOfAnother has another program take the name first.
func TestDoctorLeavesTheFileOfAnother(t *testing.T) {
	m := memory.New(nil)
	found := examine(t.Context(), &patient{FS: m, write: func(name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
		if _, err := m.WriteFile(t.Context(), name, []byte("another's"), nil); err != nil {
			t.Error(err)
		}
		return m.WriteFile(t.Context(), name, data, opts)
	}})
	if left := remains(t, m); len(left) != 1 || found.OK {
		t.Errorf("left = %q, OK = %t, want the file of the other program, and false", left, found.OK)
	}
}

// TestDoctorTouchesNothingElse examines a workspace that has files.
func TestDoctorTouchesNothingElse(t *testing.T) {
	m := memory.New(nil)
	versions := map[string]workspace.Version{}
	for _, name := range []string{"a.txt", "b/c.txt", probeFilePrefix + "of-another"} {
		version, err := m.WriteFile(t.Context(), name, []byte(name), nil)
		if err != nil {
			t.Fatal(err)
		}
		versions[name] = version
	}
	found := examine(t.Context(), m)
	if want := "ok: 2 entries, a.txt read []"; told(found, probeRead) != want {
		t.Errorf("read = %q, want %q", told(found, probeRead), want)
	}
	if want := "ok: 2 files, 12 bytes []"; told(found, probeSize) != want {
		t.Errorf("size = %q, want %q", told(found, probeSize), want)
	}
	for name, want := range versions {
		if info, err := m.Stat(t.Context(), name); err != nil || info.Version != want {
			t.Errorf("Stat(%s) = %v, %v, want version %s", name, info, err, want)
		}
	}
	if left := remains(t, m); len(left) != len(versions) {
		t.Errorf("there is %q now", left)
	}
}

func TestDoctorAllowedPaths(t *testing.T) {
	rule := func(patterns string, op policy.Op) policy.Rules {
		return policy.Rules{FirstMatch: []policy.Rule{{Paths: []string{patterns}, Deny: []policy.Op{op}}, {Paths: []string{"**"}, Allow: []policy.Op{policy.OpRead, policy.OpWrite, policy.OpList, policy.OpDelete}}}}
	}
	for name, test := range map[string]struct {
		rules policy.Rules
		want  string
	}{
		"all":       {policy.Rules{AllowedPaths: []string{"**"}}, "ok: written, read back the same []"},
		"src":       {policy.Rules{AllowedPaths: []string{"src/**"}}, "ok: written, read back the same, in src []"},
		"md":        {policy.Rules{AllowedPaths: []string{"*.md"}}, "ok: written, read back the same []"},
		"txt":       {policy.Rules{AllowedPaths: []string{"src/*/*.txt"}}, "ok: written, read back the same, in src/deep []"},
		"nothing":   {policy.Rules{AllowedPaths: []string{"none/**"}}, "skip: not tried: forbidden by policy: neither one of the allowed paths (none/**) nor a directory that leads to one []"},
		"one file":  {policy.Rules{AllowedPaths: []string{"README.md"}}, "skip: not tried: forbidden by policy: neither one of the allowed paths (README.md) nor a directory that leads to one []"},
		"no delete": {rule("**", policy.OpDelete), `skip: not tried: forbidden by policy: it matches rules[0], "**", which denies delete; allowed: read, write, edit, move, copy, list, mkdir []`},
	} {
		t.Run(name, func(t *testing.T) {
			m := memory.New(nil)
			files := []string{"README.md", "src/deep/a.txt"}
			for _, name := range files {
				if _, err := m.WriteFile(t.Context(), name, nil, nil); err != nil {
					t.Fatal(err)
				}
			}
			fsys, err := policy.Restrict(m, test.rules)
			if err != nil {
				t.Fatal(err)
			}
			found := examine(t.Context(), fsys)
			if got := told(found, probeWrite); got != test.want || !found.OK {
				t.Errorf("write = %q, OK = %t, want %q and true", got, found.OK, test.want)
			}
			if diff := cmp.Diff(files, remains(t, m)); diff != "" {
				t.Errorf("files differ (-before +after):\n%s", diff)
			}
		})
	}
}

// TestDoctorTellsWhatRulesForbid has a rule that denies writes, which the summary tells.
func TestDoctorTellsWhatRulesForbid(t *testing.T) {
	t.Parallel()
	fsys, err := policy.Restrict(memory.New(nil), policy.Rules{FirstMatch: []policy.Rule{{Paths: []string{"**"}, Deny: []policy.Op{policy.OpWrite}}}})
	if err != nil {
		t.Fatal(err)
	}
	found := examine(t.Context(), fsys)
	p := &printer{}
	p.count(found)
	if got, want := p.summary(), "1 workspace: not all was tried in w"; got != want {
		t.Errorf("summary() = %q, want %q", got, want)
	}
}

// TestDoctorAsked has rules that ask, which nobody answers: that is no defect.
func TestDoctorAsked(t *testing.T) {
	fsys, err := policy.Restrict(memory.New(nil), policy.Rules{FirstMatch: []policy.Rule{
		{Paths: []string{"**"}, Ask: []policy.Op{policy.OpList}}, {Paths: []string{"**"}, Allow: []policy.Op{policy.OpWrite, policy.OpDelete}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	found := examine(t.Context(), fsys)
	if !found.OK {
		t.Error("OK is false")
	}
	for _, probe := range []string{probeOpen, probeRead, probeWatch} {
		if got := told(found, probe); !strings.HasPrefix(got, "skip: not tried: ") || !strings.Contains(got, "nobody can approve it here") || !strings.HasSuffix(got, " []") {
			t.Errorf("%s = %q, want a skip that says why", probe, got)
		}
	}
}

func TestDoctorCountsSoFarOnly(t *testing.T) {
	m := memory.New(nil)
	for i := range maxCounted + 1 {
		if _, err := m.WriteFile(t.Context(), fmt.Sprintf("%d/%d", i/1000, i), []byte("x"), nil); err != nil {
			t.Fatal(err)
		}
	}
	if got := told(examine(t.Context(), m), probeSize); got != "ok: more than 100,000 files, 97.6 KiB []" {
		t.Errorf("size = %q, want more than 100,000 files", got)
	}
}

// TestDoctorKeepsOrder has the first workspace wait until the last is open.
func TestDoctorKeepsOrder(t *testing.T) {
	lastOpen := make(chan struct{})
	targets := []target.Target{{Name: "first"}, {Name: "last"}}
	targets[0].Open = func(context.Context) (*config.Workspace, error) {
		<-lastOpen
		return nil, fs.ErrNotExist
	}
	targets[1].Open = func(ctx context.Context) (*config.Workspace, error) {
		close(lastOpen)
		return open(ctx, memory.New(nil))
	}
	d := &doctor{timeout: time.Minute}
	var got []string
	for _, result := range d.diagnoseAll(t.Context(), targets) {
		found := <-result
		got = append(got, fmt.Sprintf("%s %t", found.Name, found.OK))
	}
	if diff := cmp.Diff([]string{"first false", "last true"}, got); diff != "" {
		t.Errorf("results differ (-want +got):\n%s", diff)
	}
}

func TestExplain(t *testing.T) {
	fault := func(kind, cause error) error { return ops.Error("open", "x", kind, cause) }
	for _, test := range []struct {
		name           string
		symptom        symptom
		err            error
		detail, remedy string
	}{
		{
			"timeout", symptom{kind: target.KindContainer, probe: probeOpen, timeout: time.Second}, fault(context.DeadlineExceeded, nil),
			"no answer in 1s", "Try a longer --timeout: an engine may be loading an image, or a store be far away.",
		},
		{
			"inotify", symptom{kind: target.KindLocal, probe: probeWatch}, fault(workspace.ErrUnavailable, nil),
			"temporarily unavailable", "Raise the limits of fs.inotify, or choose a smaller folder with root.",
		},
		{
			"store", symptom{kind: target.KindStore, probe: probeRead},
			fault(fs.ErrPermission, remediedError{"the store does not accept the credentials: correct the access key (InvalidAccessKeyId)", "correct the access key"}),
			"permission denied: the store does not accept the credentials (InvalidAccessKeyId)", "Correct the access key.",
		},
		{
			"unwritable", symptom{kind: target.KindLocal, probe: probeWrite}, fault(fs.ErrPermission, nil),
			"permission denied", "Give this user the right to write to the folder of the workspace, or set readOnly under fs.",
		},
		{
			"full", symptom{kind: target.KindLocal, probe: probeWrite}, fault(workspace.ErrNoSpace, nil),
			"no space left", "Delete files, or raise the quota of the disk or store.",
		},
		{
			"text-with-remedy", symptom{kind: "other", probe: probeOpen}, fault(fs.ErrNotExist, ops.Remedy("create it")),
			"file does not exist", "Create it.",
		},
		{
			"store-without-remedy", symptom{kind: target.KindStore, probe: probeRead, file: "workspaces:"},
			fault(nil, errors.New("the store refuses the request (Odd)")),
			"the store refuses the request (Odd)", "Correct that in the file or where the files are, and try again.",
		},
		{
			"nothing-known-without-file", symptom{kind: "other", probe: probeOpen}, errors.New("odd"),
			"odd", "Correct that on the command line or where the files are, and try again.",
		},
		{
			"no-client", symptom{kind: target.KindKubernetes, probe: probeOpen}, fault(errors.ErrUnsupported, exec.ErrNotFound),
			"unsupported operation: executable file not found in $PATH", "Choose a container that has a shell and the usual programs, and see what requires asks for.",
		},
		{
			"remedied", symptom{kind: target.KindContainer, probe: probeOpen}, fault(fs.ErrPermission, remediedError{"this user may not use the engine", "join its group"}),
			"permission denied: this user may not use the engine", "Join its group.",
		},
		{
			"no-engine", symptom{kind: target.KindContainer, probe: probeOpen}, fault(workspace.ErrUnavailable, errors.New("a\n  b")),
			"temporarily unavailable: a b",
			"See that the engine runs (docker info), that this user may use it, and that the container (docker ps) or the image (docker images) exists.",
		},
		{
			"long", symptom{kind: "other", probe: probeOpen, file: "workspaces:"}, errors.New("begin " + strings.Repeat("é", 400) + " end"),
			"begin " + strings.Repeat("é", 72) + " ... " + strings.Repeat("é", 123) + " end",
			"Correct that in the file or where the files are, and try again.",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			detail, remedy := explain(test.err, test.symptom)
			if detail != test.detail || remedy != test.remedy {
				t.Errorf("explain(%v) = %q, %q, want %q, %q", test.err, detail, remedy, test.detail, test.remedy)
			}
		})
	}
}

// remediedError is an error that knows its remedy.
type remediedError struct{ text, remedy string }

func (e remediedError) Error() string  { return e.text }
func (e remediedError) Remedy() string { return e.remedy }

// TestEveryRemedyCanBeReached finds a remedy after another one for the same error.
func TestEveryRemedyCanBeReached(t *testing.T) {
	all := remedies
	for i, c := range all {
		hidden := slices.ContainsFunc(all[:i], func(before remedy) bool {
			return before.code == c.code && (before.kind == "" || before.kind == c.kind) && (before.probe == "" || before.probe == c.probe)
		})
		if hidden || !strings.HasSuffix(c.text, ".") {
			t.Errorf("the remedy %+v is hidden by one before it, or is no sentence", c)
		}
	}
}

func TestWithoutEnvironment(t *testing.T) {
	t.Setenv("SHORT_SECRET", "s3cr3t")
	t.Setenv("LONG_SECRET", "s3cr3t-and-more")
	t.Setenv("IN_FILE", "10.20.30.40")
	t.Setenv("WITH_DEFAULT", "10.20.30.41")
	t.Setenv("IN", "elsewhere")
	t.Setenv("A_WORD", "here")
	t.Setenv("PWD", "/here/we/are")
	const file = `{endpoint: "http://${IN_FILE}/", region: "${WITH_DEFAULT:-a}", prefix: "${A_WORD}"}`
	got := withoutEnvironment("no such container: s3cr3t-and-more, s3cr3t in /here/we/are, not elsewhere, 10.20.30.40, 10.20.30.41", file)
	if want := "no such container: ${LONG_SECRET}, ${SHORT_SECRET} in /here/we/are, not elsewhere, ${IN_FILE}, ${WITH_DEFAULT}"; got != want {
		t.Errorf("withoutEnvironment() = %q, want %q", got, want)
	}
}
