package policy

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
)

// Rules say what may be done with which names of a [workspace.FileSystem]. All
// of its fields must agree: each of them can only forbid what the others allow.
type Rules struct {
	// AllowedPaths are globs of the names that may be used, from the root, in
	// the dialect of [workspace.GlobOptions]: "src/**" is the directory src
	// with all below it, "*.md" all names at the top that end in ".md". A
	// pattern that ends in a slash is refused, as it would allow a directory
	// and nothing in it. Empty allows all names.
	AllowedPaths []string
	// DeniedPaths are globs of names that may not be used although AllowedPaths
	// allow them. A directory is denied with all that is in it. A pattern without
	// a slash matches in every directory: ".env*" is also for "app/.env.local".
	// Letters are compared regardless of their case.
	DeniedPaths []string
	// JournalPaths are DeniedPaths that whoever opens a workspace adds to those of its user,
	// for the directories of backups and transactions. Errors say that, and no place.
	JournalPaths []string
	// ReadOnlyPaths are globs, as DeniedPaths, of names that can be read, listed
	// and copied, but not created, changed, moved or deleted.
	ReadOnlyPaths []string
	// FirstMatch are rules for single operations. The first one that lists the
	// operation and matches the name decides. An operation on a name that none
	// matches is allowed: end the list with a rule that denies every operation on
	// "**" to allow only what is listed.
	FirstMatch []Rule
	// AllowedExtensions are the extensions that files may have, such as ".go". A
	// file without any of them is denied; a directory may have any name. Letters
	// are compared regardless of their case. Empty allows all files.
	AllowedExtensions []string
	// DeniedExtensions are extensions of names that may not be used.
	DeniedExtensions []string
	// ShowDenied lets everything that lists names show those for which OpList is
	// denied, and nothing else of them: Ls and Walk with their types, Glob, and Watch
	// when they are created and removed. Grep lists what it may not read as skipped,
	// with the reason [SkipDenied]. What is in a denied directory stays hidden. They can
	// be used no more than hidden ones.
	ShowDenied bool
	// Report, if it is not nil, is called for each operation that the rules would
	// refuse or ask about, just before it takes place: nothing is refused, asked or
	// hidden then. It is for trying out rules. ctx is the context of the operation,
	// and name what the caller gave. It must be safe for concurrent use.
	Report func(ctx context.Context, name string, d Decision)
	// DenySensitive hides the names that secrets have ([SensitiveNames]), and
	// makes ".git" read-only in every directory, with all below it. It is off in
	// the zero Rules, as a program that names its rules gets these and no others;
	// package config turns it on.
	DenySensitive bool
	// AllowRun lets commands run without a rule for OpRun. It is for rules that keep
	// files from tools alone.
	AllowRun bool
}

// Rule allows or forbids some operations on some names. Exactly one of Allow,
// Deny and Ask is set.
type Rule struct {
	// Allow are operations that are allowed.
	Allow []Op `json:"allow,omitempty" jsonschema:"The operations that are allowed."`
	// Deny are operations that are refused.
	Deny []Op `json:"deny,omitempty" jsonschema:"The operations that are refused."`
	// Ask are operations that need an approval of the [Approver] in their context,
	// just before they take place. Without one they are refused.
	Ask []Op `json:"ask,omitempty" jsonschema:"The operations that a person must approve."`
	// Paths are globs of the names, as in [Rules].DeniedPaths: a directory is
	// meant with all below it. "**" is everything.
	Paths []string `json:"paths" jsonschema:"Globs, as in deniedPaths, of the names that the rule is for; ** is everything."`
	// Place is what errors and questions call the rule, if it is not from a list that
	// a user has. Empty means its place in FirstMatch, such as "rules[0]".
	Place string `json:"-"`
}

// Op is what a [Rule] allows or forbids.
type Op string

// The operations, and which methods of a [workspace.FileSystem] need them. A
// method that needs two is refused unless both are allowed.
const (
	// OpRead is for the content of a file: ReadFile, ReadVersioned, Open, and
	// Grep, which leaves a file out that may not be read. Copy and Move need it
	// for the source, with all below that, as else a file that may not be read
	// could get another name.
	OpRead Op = "read"
	// OpWrite is for WriteFile and Create without IfVersion, and for each name
	// that Move or Copy creates. The missing parents of a name that may be
	// written are created without OpMkdir.
	OpWrite Op = "write"
	// OpEdit is for WriteFile and Create with IfVersion, which change what the
	// caller has seen.
	OpEdit Op = "edit"
	// OpDelete is for Rm, of the name and of all below it.
	OpDelete Op = "delete"
	// OpMove is for the source of Move, with all below it.
	OpMove Op = "move"
	// OpCopy is for the source of Copy.
	OpCopy Op = "copy"
	// OpList is for Stat, Ls, Glob, Grep, Walk, Watch and Resolve. A name for
	// which it is refused is hidden. A directory is visible, too, if something in
	// it may be listed.
	OpList Op = "list"
	// OpMkdir is for Mkdir, and for the new name of each directory that Move moves. A
	// directory can also be created if something in it can be.
	OpMkdir Op = "mkdir"
	// OpRun is for Run, of the directory in which the command begins. It is the only
	// operation that is refused unless a rule of FirstMatch allows it, or asks, or
	// AllowRun is set, as a command is bound by none of the rules: it reads and
	// changes what the machine lets it.
	OpRun Op = "run"
)

// Ops returns all operations.
func Ops() []Op { return slices.Clone(allOps[:]) }

// allOps has the operations in the order of the bits of an [opSet].
var allOps = [...]Op{OpRead, OpWrite, OpEdit, OpDelete, OpMove, OpCopy, OpList, OpMkdir, OpRun}

// opSet is a set of operations. A method of the FileSystem may need several.
type opSet uint16

const (
	onRead opSet = 1 << iota
	onWrite
	onEdit
	onDelete
	onMove
	onCopy
	onList
	onMkdir
	onRun

	onAll    opSet = 1<<9 - 1
	onChange       = onWrite | onEdit | onDelete | onMove | onMkdir
)

// setOf returns the set of all, and the first that is not an operation.
func setOf(all []Op) (set opSet, unknown Op) {
	for _, op := range all {
		i := slices.Index(allOps[:], op)
		if i < 0 {
			return 0, op
		}
		set |= 1 << i
	}
	return set, ""
}

// Effect is what a rule does with an operation.
type Effect string

// The effects.
const (
	Allow Effect = "allow"
	Deny  Effect = "deny"
	Ask   Effect = "ask"
)

// Empty reports whether there are no rules.
func (r Rules) Empty() bool {
	return len(r.AllowedPaths)+len(r.DeniedPaths)+len(r.JournalPaths)+len(r.ReadOnlyPaths)+len(r.FirstMatch)+len(r.AllowedExtensions)+len(r.DeniedExtensions) == 0 &&
		!r.DenySensitive
}

// effect returns what the rule does, and with which operations.
func (r Rule) effect() (effect Effect, set opSet, err error) {
	for _, e := range []struct {
		effect Effect
		ops    []Op
	}{{Allow, r.Allow}, {Deny, r.Deny}, {Ask, r.Ask}} {
		if len(e.ops) == 0 {
			continue
		}
		if effect != "" {
			return "", 0, fmt.Errorf("a rule has %s and %s: make two rules of it", effect, e.effect)
		}
		var unknown Op
		if set, unknown = setOf(e.ops); unknown != "" {
			return "", 0, fmt.Errorf("there is no operation %q: the operations are %s", string(unknown), joinOps(allOps[:]))
		}
		effect = e.effect
	}
	switch {
	case effect == "":
		return "", 0, fmt.Errorf("a rule has no operations: give it one of %s, %s and %s", Allow, Deny, Ask)
	case len(r.Paths) == 0:
		return "", 0, fmt.Errorf("a rule has no paths: %q is all of them", "**")
	}
	return effect, set, nil
}

// joinOps returns the operations as an error lists them.
func joinOps(all []Op) string {
	texts := make([]string, len(all))
	for i, op := range all {
		texts[i] = string(op)
	}
	return strings.Join(texts, ", ")
}

// Decision is what [Rules] say of an operation on a name.
type Decision struct {
	// Op is the operation. For a denial of an operation that needs two it is the
	// one that is refused.
	Op Op `json:"op"`
	// Effect is Allow, Deny or Ask.
	Effect Effect `json:"decision"`
	// Rule is the place of the rule that decides, such as "rules[2]", which is
	// FirstMatch[2], or "deniedPaths[0]". It is empty if none does.
	Rule string `json:"rule,omitempty"`
	// Reason says why, as a part of a sentence.
	Reason string `json:"reason"`
}

// Explain returns what rules say of op on name, if no symlink is in the name.
// For [OpMove] and [OpCopy], name is the source.
//
// # Errors
//
// [io/fs.ErrInvalid] for an unknown op or an invalid name, and those of
// [Restrict] for rules that are not empty.
func Explain(rules Rules, op Op, name string) (Decision, error) {
	if !ops.ValidName(name) {
		return Decision{}, ops.Error(opRestrict, name, fs.ErrInvalid, nil)
	}
	need, unknown := setOf([]Op{op})
	if unknown != "" {
		return Decision{}, ops.Error(opRestrict, string(op), fs.ErrInvalid, fmt.Errorf("the operations are %s", joinOps(allOps[:])))
	}
	set, err := compile(rules)
	if err != nil {
		return Decision{}, err
	}
	if need&(onMove|onCopy) != 0 {
		need |= onRead
	}
	v := set.verdict(need, name)
	if need == onRun && !v.refuses(need) && !rules.AllowRun {
		return set.runs(name), nil
	}
	file := onRead | onWrite | onEdit | onCopy // what no directory is for
	if v.refuses(need) || v.access == traverse && op != OpMove && need&file != 0 {
		return set.decision(need, name, v), nil
	}
	d := Decision{Op: op, Effect: Allow, Reason: "no rule forbids it"}
	if c := set.allows(need, name); c != nil {
		d.Rule, d.Reason = c.place, fmt.Sprintf("it matches %s, %q", c.place, c.text)
	}
	if v.access == traverse {
		d.Reason = "allowed for a directory, as something in it may be allowed"
	}
	return d, nil
}

// DeniedError is the cause of the errors with which a [RestrictedFS] refuses an
// operation on a name: [errors.As] finds it in them.
type DeniedError struct {
	decision Decision
	why      error // there is no approval; nil if none was asked for
}

// Error says why, and what is allowed.
func (e *DeniedError) Error() string { return e.decision.Reason }

// Rule returns the place of the rule that refuses the operation, as in
// [Decision], and "" if there is no such place.
func (e *DeniedError) Rule() string { return e.decision.Rule }

// Unwrap returns why there is no approval, which is [ErrRefused], [ErrNoAnswer] or
// [ErrNoApprover]. It is nil if a rule denies the operation, or nobody could be asked about it.
func (e *DeniedError) Unwrap() error { return e.why }

// Decision returns the decision.
func (e *DeniedError) Decision() Decision { return e.decision }
