package cli

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit/internal/cli/doctor"
	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace/audit"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// newSuggest returns the command that makes rules of an audit log.
func newSuggest(flags *target.Flags) *cobra.Command {
	return &cobra.Command{
		Use:   "suggest FILE",
		Short: "Print rules that allow the operations of an audit log, and no others",
		Long: `Suggest reads an audit log and prints rules for fs that allow the operations in the log
and deny all others. First run the agent with "mode: audit" in fs: rules refuse nothing then.
Suggest leaves out operations that failed, and commands: allow those with a rule for run.
It refuses a log with hashPaths, which has no names.

If four or more names in a directory below the root were used in the same way, one rule
allows the whole directory; a rule for a directory always does. If the whole workspace was
listed or searched, the rules also let the agent list and find the names that it used in
another way. Add the targets of symlinks, which the log does not have. Read the rules
before you use them. With -w, only the operations of those workspaces count.`,
		Example: `  workspace policy suggest audit.jsonl
  workspace -w repo policy suggest audit.jsonl`,
		Args: term.Positional,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.Refuse("for suggest, which reads an audit log", "workspace"); err != nil {
				return err
			}
			used, err := target.UntilDone(cmd.Context(), func() (uses, error) {
				if args[0] == target.Stdin {
					return readUses(audit.Read(cmd.InOrStdin()), flags.Workspaces)
				}
				return readUses(audit.ReadFile(args[0]), flags.Workspaces)
			})
			if err != nil {
				return failedLog(args[0], err)
			}
			if len(used) == 0 && len(flags.Workspaces) > 0 {
				return term.Failf("%s: it has no operation of the workspace %s that was carried out", args[0], strings.Join(flags.Workspaces, " or "))
			}
			return term.Fail(printRules(cmd.OutOrStdout(), used))
		},
	}
}

// uses are the operations that were carried out on each name.
type uses map[string]map[policy.Op]bool

// add notes that name was used for some operations.
func (u uses) add(name string, all ...policy.Op) {
	if u[name] == nil {
		u[name] = map[policy.Op]bool{}
	}
	for _, op := range all {
		u[name][op] = true
	}
}

// readUses returns what workspaces were used for by a log, all of them if there are no names.
// What was denied or failed did not take place, and is left out, as is the file that a doctor
// has written; what "mode: audit" let through counts. The lines without a decision are headers
// and torn lines. A log with hashed names is an error, as rules cannot be made of those.
func readUses(log iter.Seq2[audit.Entry, error], workspaces []string) (uses, error) {
	used := uses{}
	for e, err := range log {
		switch {
		case err != nil:
			return nil, err
		case e.Decision == "" || e.Code != "", doctor.IsProbeFile(e.Path), len(workspaces) > 0 && !slices.Contains(workspaces, e.Workspace):
			continue
		case strings.HasPrefix(e.Path, "hmac:"):
			return nil, errors.New("it has no names, but their hashes (hashPaths): log without them for a while")
		}
		used.addEntry(e)
	}
	return used, nil
}

// addEntry notes what the operation of e needs. A move or a copy also reads its source and
// writes its destination. Commands are left out, so the rules refuse them.
func (u uses) addEntry(e audit.Entry) {
	switch e.Op {
	case ops.ReadFile, ops.Open:
		u.add(e.Path, policy.OpRead)
	case ops.Grep:
		u.add(e.Path, policy.OpRead, policy.OpList)
	case ops.WriteFile, ops.Create:
		if e.Edit {
			u.add(e.Path, policy.OpEdit)
		} else {
			u.add(e.Path, policy.OpWrite)
		}
	case ops.Rm:
		u.add(e.Path, policy.OpDelete)
	case ops.Mkdir:
		u.add(e.Path, policy.OpMkdir)
	case ops.Move:
		u.add(e.Path, policy.OpMove, policy.OpRead)
		u.add(e.To, policy.OpWrite)
		if e.VersionBefore == "" { // it may be a directory, which has no version
			u.add(e.To, policy.OpMkdir)
		}
	case ops.Copy:
		u.add(e.Path, policy.OpCopy, policy.OpRead)
		u.add(e.To, policy.OpWrite)
	case ops.Stat, ops.Ls, ops.Glob, ops.Walk, ops.Watch, ops.Resolve:
		u.add(e.Path, policy.OpList)
	}
}

// everything stands for all names. It is none.
const everything = "/"

// root replaces the use of the root. No pattern is for the root alone, and it is visible
// if something in it is. So for a listing, all other names can be listed, and for a
// search, those that can be read. Without such a name, it is everything.
func (u uses) root() {
	root := u["."]
	delete(u, ".")
	if !root[policy.OpList] {
		return
	}
	reads := false
	for _, did := range u {
		did[policy.OpList] = true
		reads = reads || did[policy.OpRead]
	}
	switch {
	case root[policy.OpRead] && !reads:
		u.add(everything, policy.OpList, policy.OpRead)
	case len(u) == 0:
		u.add(everything, policy.OpList)
	}
}

// minAlike is how many names of a directory have to be used alike before the
// directory stands for them.
const minAlike = 4

// rules returns the least rules that allow the uses, the paths of each in order.
// Names that are used alike share a rule.
//
//	src/a.go, src/b.go, src/c.go, src/d.go   read        {allow: [read], paths: [src]}
//	docs/x.md                                read, list  {allow: [read, list], paths: [docs/x.md]}
func (u uses) rules() []policy.Rule {
	u.root()
	alike := map[string][]string{} // the names, by their operations
	for name, did := range u {
		var key []string
		for _, op := range policy.Ops() {
			if did[op] {
				key = append(key, string(op))
			}
		}
		alike[strings.Join(key, " ")] = append(alike[strings.Join(key, " ")], name)
	}
	var rules []policy.Rule
	for _, key := range slices.Sorted(maps.Keys(alike)) {
		var rule policy.Rule
		for op := range strings.FieldsSeq(key) {
			rule.Allow = append(rule.Allow, policy.Op(op))
		}
		rule.Paths = merge(alike[key])
		rules = append(rules, rule)
	}
	return append(rules, policy.Rule{Deny: policy.Ops(), Paths: []string{"**"}})
}

// merge returns the globs of names, with directories in the place of many names. A glob
// with a slash is for one name, with all below it.
//
//	src/a.go src/b.go src/c.go src/d.go   src/**, as src alone would be any src
//	docs/x.md docs/y.md                   docs/x.md docs/y.md, too few for a rule
//	go.mod                                go.mod/**, for that in the root
func merge(names []string) []string {
	in := map[string]int{}
	for _, name := range names {
		in[path.Dir(name)]++
	}
	paths := map[string]bool{}
	for _, name := range names {
		if dir := path.Dir(name); dir != "." && in[dir] >= minAlike {
			name = dir
		}
		switch name = quoted.Replace(name); {
		case name == everything:
			name = "**"
		case !strings.Contains(name, "/"):
			name += "/**"
		}
		paths[name] = true
	}
	return slices.Sorted(maps.Keys(paths))
}

// secrets returns the names that stay refused although the rules allow them, sorted. The rules
// of suggest cannot allow these, as the names of secrets are refused besides.
func (u uses) secrets() (names []string) {
	for name, did := range u {
		for op := range did {
			d, err := policy.Explain(policy.Rules{DenySensitive: true}, op, name)
			if err == nil && d.Effect == policy.Deny {
				names = append(names, name)
				break
			}
		}
	}
	slices.Sort(names)
	return names
}

// quoted makes a glob of a name.
var quoted = strings.NewReplacer(`\`, `\\`, "!", `\!`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)

// printRules prints the rules as YAML.
func printRules(out io.Writer, used uses) error {
	if secrets := used.secrets(); len(secrets) > 0 {
		if _, err := fmt.Fprintf(out, "# These have the names of secrets, and need \"sensitive: allow\" as well: %s\n", yamlList(secrets)); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintln(out, "rules:"); err != nil {
		return err
	}
	for _, rule := range used.rules() {
		effect, all := "allow", rule.Allow
		if len(rule.Deny) > 0 {
			effect, all = "deny", rule.Deny
		}
		if _, err := fmt.Fprintf(out, "  - { %s: %s, paths: %s }\n", effect, yamlList(all), yamlList(rule.Paths)); err != nil {
			return err
		}
	}
	return nil
}

// yamlList returns texts as a list in YAML, in which Go's escapes mean the same. What
// does not print is escaped by its number, as is meant to be there: to some readers, U+0085 ends
// a line. A dollar sign would begin a variable.
func yamlList[T ~string](texts []T) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = numbers.Replace(strconv.Quote(strings.ReplaceAll(string(text), "$", "$$")))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// numbers writes the escapes that are letters in Go as numbers, and quotes that could be meant as such.
var numbers = strings.NewReplacer(`\\`, `\\`, `\a`, `\x07`, `\b`, `\x08`, `\t`, `\x09`, `\n`, `\x0a`, `\v`, `\x0b`, `\f`, `\x0c`, `\r`, `\x0d`,
	"“", `\u201c`, "”", `\u201d`, "„", `\u201e`, "‘", `\u2018`, "’", `\u2019`, "‚", `\u201a`)
