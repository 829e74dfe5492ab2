package policy_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/jobs"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// machine is memory that notes what it is asked to run.
type machine struct {
	*memory.FS
	ran *[]string
}

func (m machine) Capabilities() workspace.Capabilities {
	c := m.FS.Capabilities()
	c.Run = true
	return c
}

func (m machine) Exact() (workspace.FileSystem, error) { return m, nil }

func (m machine) Run(_ context.Context, opts *workspace.RunOptions) (*workspace.RunResult, error) {
	*m.ran = append(*m.ran, opts.Dir)
	if opts.Command[0] == "none" {
		return nil, ops.Error(ops.Run, "none", fs.ErrNotExist, nil)
	}
	return &workspace.RunResult{}, nil
}

// TestRun checks which wrappers let a command run, and what they declare.
func TestRun(t *testing.T) {
	t.Parallel()
	everywhere := []string{"**"}
	all := policy.Ops()
	others := all[:len(all)-1]
	for name, test := range map[string]struct {
		wrap   func(fsys workspace.FileSystem) (workspace.FileSystem, error)
		dir    string
		runs   bool
		canRun bool // is declared
		asks   bool
	}{
		"read-only": {wrap: func(f workspace.FileSystem) (workspace.FileSystem, error) { return policy.ReadOnly(f), nil }},
		"sub":       {wrap: func(f workspace.FileSystem) (workspace.FileSystem, error) { return policy.Sub(f, "src") }},
		"sub of all": {wrap: func(f workspace.FileSystem) (workspace.FileSystem, error) { return policy.Sub(f, ".") },
			runs: true, canRun: true},
		"protect": {wrap: func(f workspace.FileSystem) (workspace.FileSystem, error) {
			return policy.Protect(f, func(string) string { return "it is" }, nil)
		}, runs: true, canRun: true},
		"denied paths":        {wrap: rules(policy.Rules{DeniedPaths: []string{"x"}})},
		"sensitive":           {wrap: rules(policy.Rules{DenySensitive: true})},
		"sensitive and allow": {wrap: rules(policy.Rules{DenySensitive: true, FirstMatch: []policy.Rule{{Allow: []policy.Op{policy.OpRun}, Paths: everywhere}}}), runs: true, canRun: true},
		"allow the others":    {wrap: rules(policy.Rules{FirstMatch: []policy.Rule{{Allow: others, Paths: everywhere}}})},
		"allow alone":         {wrap: rules(policy.Rules{FirstMatch: []policy.Rule{{Allow: []policy.Op{policy.OpRun}, Paths: everywhere}}}), runs: true, canRun: true},
		"allow in src":        {wrap: rules(policy.Rules{FirstMatch: []policy.Rule{{Allow: []policy.Op{policy.OpRun}, Paths: []string{"src"}}}}), canRun: true},
		"allow in src, there": {wrap: rules(policy.Rules{FirstMatch: []policy.Rule{{Allow: []policy.Op{policy.OpRun}, Paths: []string{"src"}}}}), dir: "src", runs: true, canRun: true},
		"deny after deny":     {wrap: rules(policy.Rules{FirstMatch: []policy.Rule{{Deny: all, Paths: []string{"src"}}, {Allow: []policy.Op{policy.OpRun}, Paths: everywhere}}}), dir: "src", canRun: true},
		"denied directory":    {wrap: rules(policy.Rules{DeniedPaths: []string{"src"}, FirstMatch: []policy.Rule{{Allow: []policy.Op{policy.OpRun}, Paths: everywhere}}}), dir: "src", canRun: true},
		"allowed paths":       {wrap: rules(policy.Rules{AllowedPaths: []string{"src/**"}, FirstMatch: []policy.Rule{{Allow: []policy.Op{policy.OpRun}, Paths: everywhere}}}), runs: true, canRun: true},
		"allow run":           {wrap: rules(policy.Rules{DeniedPaths: []string{"x"}, AllowRun: true}), runs: true, canRun: true},
		"ask":                 {wrap: rules(policy.Rules{FirstMatch: []policy.Rule{{Ask: []policy.Op{policy.OpRun}, Paths: everywhere}}}), canRun: true, asks: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var ran []string
			below := machine{memory.New(nil), &ran}
			if err := below.Mkdir(t.Context(), "src", nil); err != nil {
				t.Fatal(err)
			}
			fsys, err := test.wrap(below)
			if err != nil {
				t.Fatal(err)
			}
			exact, err := workspace.Exact(fsys)
			if err != nil {
				t.Fatal(err)
			}
			for _, fsys := range []workspace.FileSystem{fsys, exact} {
				ran = nil
				if got := workspace.CapabilitiesOf(fsys).Run; got != test.canRun {
					t.Errorf("Capabilities().Run = %v, want %v", got, test.canRun)
				}
				opts := &workspace.RunOptions{Command: []string{"make"}, Dir: test.dir}
				_, err := workspace.New("", fsys, nil).Run(t.Context(), opts)
				if test.runs != (err == nil) || test.runs != (len(ran) == 1) || !test.runs && !errors.Is(err, workspace.ErrPolicy) {
					t.Errorf("Run = %v, and it ran in %q; want that it runs: %v", err, ran, test.runs)
				}
				if test.runs {
					opts.Command[0] = "none"
					if _, err := workspace.New("", fsys, nil).Run(t.Context(), opts); ops.Path(err) != "none" {
						t.Errorf("Run of a program that is missing = %v, want its name", err)
					}
				}
				for _, allow := range []bool{false, true} {
					ran = nil
					var asked []policy.Request
					ctx := policy.WithApprover(t.Context(), policy.NewApprover(func(_ context.Context, r policy.Request) (policy.Answer, error) {
						asked = append(asked, r)
						return policy.Answer{Allow: allow}, nil
					}, nil))
					_, err := workspace.New("", fsys, nil).Run(ctx, &workspace.RunOptions{Command: []string{"make", "a\nb"}, Dir: test.dir, Env: map[string]string{"A": "1"}})
					if !test.asks {
						if len(asked) > 0 {
							t.Errorf("asked %+v, want no question", asked)
						}
						continue
					}
					if len(asked) != 1 || asked[0].Op != policy.OpRun || !strings.Contains(asked[0].Text(), `["make" "a\nb"] with the variables map["A":"1"]`) {
						t.Errorf("asked %+v, want the command", asked)
					}
					if allow != (err == nil) || allow != (len(ran) == 1) {
						t.Errorf("Run with the answer %v = %v, and it ran in %q", allow, err, ran)
					}
				}
			}
		})
	}
}

// TestRunInput checks that a question says whether a command has an input, also for a
// command in the background, whose reader is always empty.
func TestRunInput(t *testing.T) {
	t.Parallel()
	var ran []string
	fsys, err := policy.Restrict(machine{memory.New(nil), &ran}, policy.Rules{FirstMatch: []policy.Rule{{Ask: []policy.Op{policy.OpRun}, Paths: []string{"**"}}}})
	if err != nil {
		t.Fatal(err)
	}
	var asked string
	ctx := policy.WithApprover(t.Context(), policy.NewApprover(func(_ context.Context, r policy.Request) (policy.Answer, error) {
		asked = r.Text()
		return policy.Answer{Allow: true}, nil
	}, nil))
	ws := workspace.New("", fsys, nil)
	for _, test := range []struct {
		stdin io.Reader
		want  bool
	}{{nil, false}, {strings.NewReader(""), false}, {strings.NewReader("x"), true}, {io.LimitReader(nil, 0), true}} {
		asked = ""
		_, err := ws.Run(ctx, &workspace.RunOptions{Command: []string{"make"}, Stdin: test.stdin})
		if got := strings.Contains(asked, "with an input that is not shown"); err != nil || asked == "" || got != test.want {
			t.Errorf("Run with the input %T = %v, and the question was %q; want an input there: %v", test.stdin, err, asked, test.want)
		}
	}
	all := jobs.New(ws, nil)
	defer all.Close()
	if _, err := all.Start(ctx, &workspace.RunOptions{Command: []string{"make", "job"}}); err != nil || !strings.Contains(asked, "job") || strings.Contains(asked, "input") {
		t.Errorf("Start = %v, and the question was %q, want no input", err, asked)
	}
}

func rules(r policy.Rules) func(workspace.FileSystem) (workspace.FileSystem, error) {
	return func(fsys workspace.FileSystem) (workspace.FileSystem, error) { return policy.Restrict(fsys, r) }
}

// TestRunReport checks that rules that are tried out let commands run, and report them.
func TestRunReport(t *testing.T) {
	t.Parallel()
	var ran []string
	var reported []policy.Decision
	fsys, err := policy.Restrict(machine{memory.New(nil), &ran}, policy.Rules{DeniedPaths: []string{"x"}, Report: func(_ context.Context, _ string, d policy.Decision) {
		reported = append(reported, d)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fsys.Run(t.Context(), &workspace.RunOptions{Command: []string{"make"}}); err != nil || len(ran) != 1 {
		t.Errorf("Run = %v, and it ran in %q", err, ran)
	}
	if len(reported) != 1 || reported[0].Op != policy.OpRun || reported[0].Effect != policy.Deny {
		t.Errorf("reported %+v, want that run is denied", reported)
	}
}

// TestExplainRun checks that Explain says what Restrict does.
func TestExplainRun(t *testing.T) {
	t.Parallel()
	r := policy.Rules{DeniedPaths: []string{"keys"}, FirstMatch: []policy.Rule{{Allow: []policy.Op{policy.OpRun}, Paths: []string{"src"}}, {Ask: []policy.Op{policy.OpRun}, Paths: []string{"tools"}}}}
	for dir, want := range map[string]policy.Effect{".": policy.Deny, "src": policy.Allow, "src/a": policy.Allow, "tools": policy.Ask, "keys": policy.Deny, "x": policy.Deny} {
		d, err := policy.Explain(r, policy.OpRun, dir)
		if err != nil || d.Effect != want || d.Reason == "" {
			t.Errorf("Explain(run, %q) = %+v, %v, want %s", dir, d, err, want)
		}
	}
}
