package shell

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/shell/internal/rewrite"
	"github.com/workspacekit/workspacekit/workspace"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// state is what a session keeps from one run to the next.
//
// vars has only what differs from fixed and initial; what was unset of them has no value. The
// fields are used by one run at a time: Shell.mu is held while a script runs. Session has a lock
// of its own.
type state struct {
	Dir       string                     // the working directory
	vars      map[string]expand.Variable // all variables, with their attributes
	functions map[string]*syntax.Stmt    // by name
	options   []string                   // the names that are on
	status    int                        // of the last script, which is $? at the beginning of the next

	*rewrite.Session // what rewritten scripts refer to
}

// newState returns the state of a session in which nothing has run: in the root,
// without variables and functions.
//
// It needs no files: whether the directory exists is asked when something uses it.
func newState() *state {
	return &state{Dir: "/", vars: map[string]expand.Variable{}, functions: map[string]*syntax.Stmt{}, Session: rewrite.NewSession()}
}

// fixed are the variables that every script begins with. The interpreter would take some of
// them from the host where they are not set: HOME, UID, EUID and GID.
var fixed = map[string]string{
	"BASH": "/bin/bash", "BASHPID": "1000", "BASH_ARGV0": "bash", "BASH_VERSION": "5.2.15(1)-release", "EUID": "1000",
	"GID": "1000", "HOME": "/", "HOSTNAME": "workspace", "LANG": "C.UTF-8", "LOGNAME": "user", "OSTYPE": "linux-gnu",
	"PATH": "/usr/local/bin:/usr/bin:/bin", "SHELL": "/bin/bash", "SHLVL": "1", "TERM": "dumb", "TMPDIR": "/tmp", "UID": "1000",
	"USER": "user",
}

// exported are those of the fixed variables that programs see.
var exported = []string{"HOME", "LANG", "LOGNAME", "PATH", "SHELL", "SHLVL", "TERM", "TMPDIR", "USER"}

// options are the options of set -o and shopt that a session keeps. UnmarshalJSON refuses
// all others.
var options = []string{"allexport", "errexit", "noglob", "nounset", "pipefail", "xtrace",
	"dotglob", "expand_aliases", "extglob", "globstar", "nocaseglob", "nullglob"}

// initial are variables that the interpreter sets by itself, with their first values.
var initial = map[string]string{"IFS": " \t\n", "OPTIND": "1"}

// environ returns the variables for a run. given are exported variables besides those of
// the session.
//
// Of one name, a given variable comes before one of the session, and that one before a fixed
// one. A name that no script could spell is left out, and NUL bytes are removed from values.
func (s *state) environ(given map[string]string) *environ {
	vars := map[string]expand.Variable{}
	for name, value := range fixed {
		vars[name] = expand.Variable{Set: true, Kind: expand.String, Str: value, Exported: slices.Contains(exported, name)}
	}
	for name, vr := range s.vars {
		if initial[name] == "" && vr.Declared() { // the others come from restore
			vars[name] = vr
		}
	}
	for name, value := range given {
		if syntax.ValidName(name) {
			vars[name] = expand.Variable{Set: true, Kind: expand.String, Str: strings.ReplaceAll(value, "\x00", ""), Exported: true}
		}
	}
	return &environ{vars: vars, dir: s.Dir}
}

// restore runs what environ cannot do: it sets the variables that the interpreter sets by itself, and
// $?, and unsets what a script has unset. given are as for environ.
func (s *state) restore(ctx context.Context, runner *interp.Runner, given map[string]string) {
	var script strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.vars)) {
		vr := s.vars[name]
		_, ok := given[name]
		switch {
		case !vr.Declared() && !ok:
			script.WriteString("builtin unset " + name + "\n")
		case initial[name] != "" && vr.Kind == expand.String:
			script.WriteString(name + "=" + quoted(vr.Str) + "\n")
		}
		if initial[name] != "" && vr.Exported {
			script.WriteString("export " + name + "\n")
		}
		if initial[name] != "" && vr.ReadOnly {
			script.WriteString("readonly " + name + "\n")
		}
	}
	if file, err := syntax.NewParser().Parse(strings.NewReader(script.String()), ""); err == nil && script.Len() > 0 {
		_ = runner.Run(ctx, file)
	}
	if s.status != 0 {
		_ = runner.Run(ctx, s.StatusCall(s.status))
	}
}

// drop takes back what environ has exported and a script in another one has not inherited. What
// bash sets by itself stays, and of that SHLVL is exported. HOME must not come from the host.
func (e *environ) drop(inherited map[string]string) {
	for _, name := range exported {
		_, ok := inherited[name]
		vr := e.vars[name]
		switch {
		case ok || name == "SHLVL":
		case slices.Contains([]string{"HOME", "PATH", "SHELL", "TERM"}, name):
			vr.Exported = false
			e.vars[name] = vr
		default:
			delete(e.vars, name)
		}
	}
}

// apply gives an interpreter the functions and options of the session, and positional
// parameters. The interpreter has run an empty statement before (run.runner).
//
// The "--" keeps a parameter such as "-e" from being an option.
func (s *state) apply(runner *interp.Runner, args []string) error {
	runner.Funcs = maps.Clone(s.functions)
	for _, name := range s.options {
		// A name is one of set -o or one of shopt; only trying tells which.
		if err := interp.Params("-o", name)(runner); err == nil {
			continue
		}
		if err := interp.BashOpts("-s", name)(runner); err != nil {
			return err
		}
	}
	return interp.Params(append([]string{"--"}, args...)...)(runner)
}

// take keeps the state of an interpreter that has run a script. changed says that options
// may have changed.
//
// PWD is left out, as it follows Dir, and so are what a new session begins with, what is computed and
// the variables of the shell itself.
func (s *state) take(runner *interp.Runner, changed bool) {
	s.Dir = runner.Dir
	s.functions = maps.Clone(runner.Funcs)
	s.vars = map[string]expand.Variable{}
	for name, vr := range runner.Vars {
		first, known := fixed[name]
		if value, ok := initial[name]; ok {
			first, known = value, true
		}
		fresh := known && vr.Kind == expand.String && vr.Str == first && !vr.ReadOnly && vr.Exported == slices.Contains(exported, name)
		if fresh || name == "PWD" || name == rewrite.NumberName || name == rewrite.OffsetName || name == sourceName || slices.Contains(computedVariables, name) || !known && !vr.Declared() {
			continue
		}
		// After the run there is no function that it could be local to.
		vr.Local = false
		s.vars[name] = vr
	}
	if changed {
		s.takeOptions(runner)
	}
	s.DropPieces(s.functions)
}

// takeOptions asks the interpreter which options are on: it has no other way to say. The
// interpreter cannot run scripts afterwards, as it no longer prints to the output of the run.
//
// Only scripts with set or shopt pay for it; see run.optsUsed.
func (s *state) takeOptions(runner *interp.Runner) {
	var out bytes.Buffer
	interp.StdIO(nil, &out, nil)(runner) // a trace goes to the standard error, which nobody gets
	file, err := syntax.NewParser().Parse(strings.NewReader("set -o; shopt"), "")
	if err != nil {
		return
	}
	if runner.Run(context.Background(), file) != nil || out.Len() == 0 {
		return
	}
	s.options = nil
	for line := range strings.Lines(out.String()) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if value == "on" && slices.Contains(options, name) {
			s.options = append(s.options, name)
		}
	}
}

// storedState is the JSON form of a session.
type storedState struct {
	Dir       string                    `json:"dir"`
	Variables map[string]storedVariable `json:"variables,omitempty"`
	Functions map[string]string         `json:"functions,omitempty"`
	Options   []string                  `json:"options,omitempty"`
	Status    uint8                     `json:"status,omitempty"`
}

// storedVariable is a variable in the JSON form. At most one of its values is set; a variable
// that was declared without a value has none.
//
// Kind is the number that package expand gives it, which is part of the stored form: data of
// a session outlives an update of that package.
type storedVariable struct {
	Value    *storedString                 `json:"value,omitempty"` // of a string or a reference to a name
	List     []storedString                `json:"list,omitempty"`
	Indexes  []int                         `json:"indexes,omitempty"` // of the elements of List; none for 0, 1, 2...
	Map      map[storedString]storedString `json:"map,omitempty"`
	Kind     expand.ValueKind              `json:"kind"`
	Exported bool                          `json:"exported,omitempty"`
	ReadOnly bool                          `json:"readOnly,omitempty"`
}

// storedString is a string that need not be UTF-8.
// JSON has no bytes: such a string is base64 after a NUL, which no variable of a shell can
// have. It is a struct as package json asks no string that is a key for its text.
type storedString struct{ text string }

// MarshalText implements [encoding.TextMarshaler].
func (s storedString) MarshalText() ([]byte, error) {
	if utf8.ValidString(s.text) {
		return []byte(s.text), nil
	}
	return []byte("\x00" + base64.StdEncoding.EncodeToString([]byte(s.text))), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler]. NUL bytes are removed, as from the
// values of RunOptions.Env.
func (s *storedString) UnmarshalText(data []byte) error {
	text := string(data)
	if coded, ok := strings.CutPrefix(text, "\x00"); ok {
		decoded, err := base64.StdEncoding.DecodeString(coded)
		if err != nil {
			return err
		}
		text = string(decoded)
	}
	s.text = strings.ReplaceAll(text, "\x00", "")
	return nil
}

// MarshalJSON returns directory, variables, functions, options and $? of the session, for
// [Shell.UnmarshalJSON]. Files below /tmp are not in it. Values are stored as they are, so
// that the data is as secret as what scripts have put into variables.
//
// It waits for a script that runs, and is the same for the same state.
func (s *Shell) MarshalJSON() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stored := storedState{Dir: s.state.Dir, Options: s.state.options, Status: uint8(s.state.status),
		Variables: map[string]storedVariable{}, Functions: map[string]string{}}
	for name, vr := range s.state.vars {
		v := storedVariable{Kind: vr.Kind, Indexes: vr.Indexes, Exported: vr.Exported, ReadOnly: vr.ReadOnly}
		if vr.Set && (vr.Kind == expand.String || vr.Kind == expand.NameRef) {
			value := storedString{vr.Str}
			v.Value = &value
		}
		for _, elem := range vr.List {
			v.List = append(v.List, storedString{elem})
		}
		if vr.Map != nil {
			v.Map = map[storedString]storedString{}
			for k, elem := range vr.Map {
				v.Map[storedString{k}] = storedString{elem}
			}
		}
		stored.Variables[name] = v
	}
	for name, body := range s.state.functions {
		stored.Functions[name] = s.state.Function(name, body)
	}
	return json.Marshal(stored)
}

// UnmarshalJSON replaces the state of the session by one that [Shell.MarshalJSON] returned.
// It waits for a script that runs. A working directory below /tmp is created.
//
// The data is input, and may have been changed: names, indices, options and the directory
// are checked, and functions go through the same parser and rewriting as a script. A function
// that could not be stored, such as one with a here-document in another one, or that cannot be
// parsed again prints an error when it is called. After an error of UnmarshalJSON the session is as
// it was.
func (s *Shell) UnmarshalJSON(data []byte) error {
	if s.invalid != nil {
		return s.invalid
	}
	var stored storedState
	if err := json.Unmarshal(data, &stored); err != nil {
		return fmt.Errorf("shell: %w", err)
	}
	next := newState()
	if !path.IsAbs(stored.Dir) || path.Clean(stored.Dir) != stored.Dir {
		return errors.New("shell: the directory is damaged")
	}
	next.Dir = stored.Dir
	for name, v := range stored.Variables {
		if !syntax.ValidName(name) || v.Kind > expand.Associative || len(v.Indexes) > 0 && !validIndexes(v) {
			return fmt.Errorf("shell: the variable %q is damaged", name)
		}
		next.vars[name] = v.variable()
	}
	for _, name := range stored.Options {
		if !slices.Contains(options, name) {
			return fmt.Errorf("shell: the option %q is damaged", name)
		}
	}
	next.options, next.status = stored.Options, int(stored.Status)
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &run{shell: &Shell{state: next}, opts: s.opts, cancel: func(error) {}}
	scripts := r.rewriter(nil, nil)
	for _, name := range slices.Sorted(maps.Keys(stored.Functions)) {
		body := functionBody(scripts, name, stored.Functions[name])
		if body == nil {
			body = functionBody(scripts, name, name+"() { command echo "+quoted("bash: "+name+": the function could not be stored; define it again")+" >&2; return 127; }")
		}
		if body != nil {
			next.functions[name] = body
		}
	}
	s.state = next
	s.makeDir()
	return nil
}

// functionBody returns the body of the function that source declares, nil if source is anything else.
//
// The name that rewrite has checked must be the name that is stored: with another one, a function
// could replace a builtin such as eval.
func functionBody(scripts *rewrite.Rewriter, name, source string) *syntax.Stmt {
	file, err := scripts.Parse(source, "")
	if err != nil || len(file.Stmts) != 1 {
		return nil
	}
	if decl, ok := file.Stmts[0].Cmd.(*syntax.FuncDecl); ok && decl.Name != nil && decl.Name.Value == name {
		return decl.Body
	}
	return nil
}

// makeDir creates the working directory in the scratch space, which is not stored. If there is
// no room for it, scripts find that it does not exist.
func (s *Shell) makeDir() {
	for _, scratch := range []string{"/tmp/", "/dev/shm/"} {
		if name, ok := strings.CutPrefix(s.state.Dir, scratch); ok {
			_ = s.space.Workspace.Mkdir(context.Background(), name, &workspace.MkdirOptions{Recursive: true})
		}
	}
}

// validIndexes reports whether the indexes of a sparse array are not negative, ascending
// without duplicates, and as many as its elements. The interpreter relies on that.
func validIndexes(v storedVariable) bool {
	return len(v.Indexes) == len(v.List) && v.Indexes[0] >= 0 && slices.IsSorted(v.Indexes) &&
		len(slices.Compact(slices.Clone(v.Indexes))) == len(v.Indexes)
}

// variable is the inverse of the JSON form. Values that do not fit the kind are ignored.
func (v storedVariable) variable() expand.Variable {
	vr := expand.Variable{Kind: v.Kind, Indexes: v.Indexes, Exported: v.Exported, ReadOnly: v.ReadOnly}
	switch v.Kind {
	case expand.String, expand.NameRef:
		if v.Value != nil {
			vr.Set, vr.Str = true, v.Value.text
		}
	case expand.Indexed:
		vr.Set, vr.List = true, make([]string, len(v.List))
		for i, elem := range v.List {
			vr.List[i] = elem.text
		}
	case expand.Associative:
		vr.Set, vr.Map = true, map[string]string{}
		for k, elem := range v.Map {
			vr.Map[k.text] = elem.text
		}
	}
	return vr
}
