package policy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy/internal/shown"
)

// Request is what an operation would do with a name.
type Request struct {
	// Workspace is the name of the workspace, if a tool does the operation.
	Workspace string `json:"workspace,omitempty"`
	// Op is the operation.
	Op Op `json:"op"`
	// Path is the name. An [Approver] is shown the target of symlinks.
	Path string `json:"path"`
	// To is the destination of OpMove and OpCopy.
	To string `json:"to,omitempty"`
	// Recursive says that OpDelete deletes, or OpCopy copies, all below Path, too.
	Recursive bool `json:"recursive,omitempty"`
	// Diff is what a write or an edit changes, as a unified diff of at most 8 KiB.
	Diff string `json:"diff,omitempty"`
	// Note says why Diff is missing or not whole, and what else there is to know.
	Note string `json:"note,omitempty"`
	// Rules are the places of the rules that ask, as in [Decision]. Only an Approver is
	// given them; [Explain] says beforehand what rules decide.
	Rules []string `json:"rules,omitempty"`
	// Fingerprint is the same for two requests if they do the same to the same
	// bytes in the same workspace. Only an Approver is given one.
	Fingerprint string `json:"fingerprint,omitempty"`
}

// Text returns the request for a person to read. Nothing in a file or a name can
// look like a part of the question: control characters, and those that cannot be
// seen, are spelled out, and each line of a diff begins with its sign.
func (r Request) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", r.Op, wording.Visible(r.Path, ""))
	if r.To != "" {
		fmt.Fprintf(&b, " to %s", wording.Visible(r.To, ""))
	}
	if r.Recursive {
		b.WriteString(", with all below it")
	}
	if r.Workspace != "" {
		fmt.Fprintf(&b, ", in the workspace %s", wording.Visible(r.Workspace, ""))
	}
	if len(r.Rules) > 0 {
		fmt.Fprintf(&b, "\nasked by: %s", strings.Join(r.Rules, ", "))
	}
	if r.Note != "" {
		fmt.Fprintf(&b, "\nnote: %s", wording.Visible(r.Note, ""))
	}
	for line := range strings.Lines(r.Diff) {
		b.WriteString("\n" + wording.Visible(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return b.String()
}

// Answer is what an [Approver] is told. The zero Answer refuses.
type Answer struct {
	// Allow allows the request.
	Allow bool
	// Session also allows, without a question, everything else that the rules of
	// the request ask about, as long as the Approver is in use. It is for Allow only.
	Session bool
	// Reason says why the request is refused, for whoever made it.
	Reason string
}

// Why there is no approval where a rule asks. [errors.Is] finds one of them in the
// [*DeniedError].
var (
	// ErrRefused says that the answer was a refusal, or none that is valid.
	ErrRefused = errors.New("it was refused")
	// ErrNoAnswer says that nobody answered in time. Whoever asks later may be answered.
	ErrNoAnswer = errors.New("nobody answered in time")
	// ErrNoApprover says that the context has no [Approver], that the operation is a
	// Create, which nobody can be shown, or that what it finds out is worth no question.
	ErrNoApprover = errors.New("nobody can approve it here")
)

// errNoTurn says that a question was not asked.
var errNoTurn = ops.Refinement{Text: "another question was not answered in time", Of: ErrNoAnswer}

// DefaultApprovalTimeout is how long an [Approver] waits for an answer whose options
// do not say.
const DefaultApprovalTimeout = time.Minute

// ApproverOptions tune an [Approver].
type ApproverOptions struct {
	// Timeout is how long a question waits for its answer, at most half of the time
	// that is left to the operation then. The wait for its turn does not count: it ends
	// when half of the time of the operation is over, or when no question has had its turn
	// for some seconds more than Timeout. Zero or less means
	// [DefaultApprovalTimeout].
	Timeout time.Duration
	// Parallel is how many questions can be open at a time. Zero or less means 1.
	Parallel int
}

// Approver asks somebody whether an operation may take place for which the rules of
// a [RestrictedFS] ask. It belongs to one session: it asks one question at a time,
// unless its options say otherwise, and remembers, in memory alone, which rules have
// been allowed for the session.
// [WithApprover] puts it into the context of operations. It is safe for concurrent
// use.
type Approver struct {
	ask     func(context.Context, Request) (Answer, error) // asks the person
	timeout time.Duration                                  // of one question
	turn    chan struct{}                                  // holds a value for each question that may be opened
	asked   atomic.Int64                                   // how many questions have had their turn

	mu      sync.Mutex
	session map[*ruleset]*ruleset // guarded by mu; what rules have become in the session
}

// NewApprover returns an Approver that calls ask, which may not call an operation
// that needs the Approver itself. An error of ask, a panic, and no answer before its
// context ends are refusals. An answer that comes after that is ignored, and the
// next questions wait some seconds for it, so ask should return when its context ends.
// Nil opts mean the zero ApproverOptions.
func NewApprover(ask func(context.Context, Request) (Answer, error), opts *ApproverOptions) *Approver {
	var o ApproverOptions
	if opts != nil {
		o = *opts
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultApprovalTimeout
	}
	parallel := max(o.Parallel, 1)
	a := &Approver{ask: ask, timeout: o.Timeout, turn: make(chan struct{}, parallel), session: map[*ruleset]*ruleset{}}
	for range parallel {
		a.turn <- struct{}{}
	}
	return a
}

// approverKey is the key of an Approver in a context.
type approverKey struct{}

// WithApprover returns a context for operations that may ask a. With a nil a, they
// ask nobody, and what needs an approval is refused.
func WithApprover(ctx context.Context, a *Approver) context.Context {
	return context.WithValue(ctx, approverKey{}, a)
}

// approverOf returns the Approver of ctx, nil if there is none.
func approverOf(ctx context.Context) *Approver {
	a, _ := ctx.Value(approverKey{}).(*Approver)
	return a
}

// put asks about req when it is the turn of the question, unless covered says then
// that the session allows it meanwhile, and remembers an answer for the session.
// The error says why there is no approval.
func (a *Approver) put(ctx context.Context, req Request, covered func() bool, remember func()) error {
	if !a.awaitTurn(ctx) {
		return errNoTurn
	}
	release := func() { a.turn <- struct{}{} }
	if covered() {
		release()
		return nil
	}
	limited, cancel := half(ctx, a.timeout)
	defer cancel()
	answered := make(chan Answer)
	go a.call(limited, req, answered, release)
	var why error
	select {
	case answer := <-answered:
		defer release()
		why = answer.why()
		if why == nil && answer.Session && limited.Err() == nil {
			remember()
		}
	case <-limited.Done():
	}
	if limited.Err() != nil {
		return ErrNoAnswer
	}
	return why
}

// lateAnswer is how long ask may take to return after its context has ended, before those
// who wait for their turn give up.
const lateAnswer = 5 * time.Second

// awaitTurn waits for the turn of a question, and reports false if it does not come: in half of
// the time of ctx, or because ask does not return and so no other question has its turn either.
func (a *Approver) awaitTurn(ctx context.Context) bool {
	wait, stop := half(ctx, math.MaxInt64)
	defer stop()
	for asked := a.asked.Load(); ; {
		select {
		case <-a.turn:
			a.asked.Add(1)
			return true
		case <-wait.Done():
			return false
		case <-time.After(min(a.timeout, math.MaxInt64-lateAnswer) + lateAnswer):
			now := a.asked.Load()
			if now == asked {
				return false
			}
			asked = now
		}
	}
}

// half returns a context for at most half of the time that is left to ctx, so that the
// operation ends with a refusal.
func half(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	if end, ok := ctx.Deadline(); ok {
		most = min(most, time.Until(end)/2)
	}
	return context.WithTimeout(ctx, most)
}

// why returns why the answer is no approval, nil if it is one.
func (a Answer) why() error {
	switch {
	case a.Allow:
		return nil
	case a.Reason == "":
		return ErrRefused
	}
	return fmt.Errorf("%w: %s", ErrRefused, clip(a.Reason))
}

// maxReason is how many characters of a reason an error has.
const maxReason = 300

// clip returns a reason as an error has it.
func clip(reason string) string {
	return wording.ClipAround(wording.Visible(reason, ""), 0, maxReason)
}

// call calls ask and sends the answer: a refusal if ask fails, panics, or ends the
// goroutine. If nobody waits for it anymore, it calls release.
func (a *Approver) call(ctx context.Context, req Request, answered chan<- Answer, release func()) {
	answer := Answer{Reason: "the question got no valid answer"}
	defer func() {
		_ = recover() // what ask panics with is no business of whoever reads the refusal
		select {
		case answered <- answer:
		case <-ctx.Done():
			release()
		}
	}()
	if given, err := a.ask(ctx, req); err == nil {
		answer = given
	}
}

// rules returns what base is in the session.
func (a *Approver) rules(base *ruleset) *ruleset {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.rulesLocked(base)
}

// rulesLocked is called with mu held.
func (a *Approver) rulesLocked(base *ruleset) *ruleset {
	if allowed := a.session[base]; allowed != nil {
		return allowed
	}
	return base
}

// remember allows the rules at places in the session.
func (a *Approver) remember(base *ruleset, places []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.session[base] = a.rulesLocked(base).granting(places)
}

// granting returns s with the rules at places allowing what they ask about. It does
// not change what is free: symlinks are still followed one at a time.
func (s *ruleset) granting(places []string) *ruleset {
	granted := *s
	granted.lists, granted.leads = nil, s.leads
	for _, list := range s.lists {
		all := slices.Clone(list.all)
		list.all, list.forbids = nil, 0
		for _, c := range all {
			if c.effect == Ask && slices.Contains(places, c.place) {
				c.effect = Allow
			}
			list.append(c)
		}
		granted.add(list)
	}
	granted.programs = slices.Clone(s.programs)
	for i, c := range granted.programs {
		if c.effect == Ask && slices.Contains(places, c.place) {
			granted.programs[i].effect = Allow
		}
	}
	_ = granted.index() // these patterns have been compiled before
	return &granted
}

// question is one question about one operation. The operation runs twice: first to
// plan, up to the moment at which it would touch the name, which tells whether the
// rules allow all else, and what a person is to see; then, with an approval, to act.
//
//	plan   WriteFile(a)  a rule asks: it counts as one that allows from here on
//	plan   WriteFile(a)  allowed: a is described, and nothing is written
//	ask    the description of a: allowed
//	act    WriteFile(a)  a is described again. It is as it was, so it is written, if
//	                     it still has that version. Else there is a new question.
type question struct {
	request  Request
	base     *ruleset // without an approval
	rules    []string // the places of those that ask
	name     string   // of the operation, before symlinks
	planning bool
	follows  bool  // a symlink that is the last element
	doomed   error // of an operation that fails whoever approves, which anybody may know
}

var (
	// errPlanned says that an operation has been planned, and would act now.
	errPlanned = errors.New("the operation is planned")
	// errChanged says that what was shown is no longer what is there.
	errChanged = errors.New("the file has changed since it was shown")
)

// maxQuestions is how often an operation asks because a name changes.
const maxQuestions = 3

// approved calls do, which is the operation op on name, and again with an approval
// if a rule asks. Who is not asked, and what for, tells nothing about what there is
// at the name.
func (r *RestrictedFS) approved(ctx context.Context, op, name string, do func(r *RestrictedFS) error) error {
	if r.report != nil {
		return r.watched(ctx, name, do)
	}
	if !r.rules.asks || r.question != nil {
		return do(r)
	}
	a := approverOf(ctx)
	current := r.inSession(ctx)
	err := do(current)
	d := asked(err)
	if d == nil {
		return err
	}
	if a == nil || !session.MayAsk(ctx) {
		return d.refused(op, name, ErrNoApprover)
	}
	for range maxQuestions {
		q, err := current.plan(ctx, op, name, do)
		switch {
		case err != nil:
			return err
		case len(q.rules) == 0: // the names that a rule asks about have been deleted meanwhile
			return do(current)
		}
		covered := func() bool {
			return a.rules(r.rules) != current.rules && !q.asks(current.under(a.rules(r.rules), nil), do)
		}
		why := a.put(ctx, q.request, covered, func() { a.remember(r.rules, q.rules) })
		switch {
		case ctx.Err() != nil:
			return ops.Error(op, name, ctx.Err(), nil)
		case why != nil:
			return d.refused(op, name, why)
		}
		session.Approved(ctx)
		acting := *q
		acting.planning = false
		if err = do(current.under(a.rules(r.rules).granting(q.rules), &acting)); !errors.Is(err, errChanged) && asked(err) == nil {
			return err
		}
	}
	return ops.Error(op, name, workspace.ErrConflict, errors.New("it changes while it is asked about"))
}

// inSession returns r with what the session of ctx allows.
func (r *RestrictedFS) inSession(ctx context.Context) *RestrictedFS {
	if a := approverOf(ctx); a != nil && r.rules.asks {
		return r.under(a.rules(r.rules), r.question)
	}
	return r
}

// under returns r under other rules and with a question.
func (r *RestrictedFS) under(rules *ruleset, q *question) *RestrictedFS {
	view := *r
	view.rules, view.question = rules, q
	return &view
}

// asked returns the denial in err if that is one that an approval lifts.
func asked(err error) *DeniedError {
	var d *DeniedError
	if errors.As(err, &d) && d.decision.Effect == Ask {
		return d
	}
	return nil
}

// refused returns the error of an operation without an approval.
func (e *DeniedError) refused(op, name string, why error) error {
	d := e.decision
	d.Reason += "; " + why.Error()
	return ops.Error(op, name, workspace.ErrPolicy, &DeniedError{decision: d, why: why})
}

// plan finds out which rules ask and what to show. Its error is the denial of what
// is refused whoever approves.
func (r *RestrictedFS) plan(ctx context.Context, op, name string, do func(r *RestrictedFS) error) (*question, error) {
	q := &question{base: r.rules, name: name, planning: true}
	q.request = Request{Workspace: session.Workspace(ctx), Path: name}
	for {
		err := do(r.under(r.rules.granting(q.rules), q))
		d := asked(err)
		switch {
		case d != nil && slices.Contains(q.rules, d.Rule()):
			return nil, err
		case d != nil:
			q.rules = append(q.rules, d.Rule())
			if q.request.Op == "" {
				q.request.Op = d.decision.Op
			}
			continue
		case ctx.Err() != nil:
			return nil, ops.Error(op, name, ctx.Err(), nil)
		case errors.Is(err, workspace.ErrPolicy):
			return nil, err
		case q.doomed != nil:
			return nil, q.doomed
		}
		// Any other error says something of what there is: it comes after the answer.
		q.request.Rules = slices.Clone(q.rules)
		return q, nil
	}
}

// asks reports whether the operation still asks in a view of r.
func (q *question) asks(r *RestrictedFS, do func(r *RestrictedFS) error) bool {
	probe := *q
	probe.planning = true
	return asked(do(r.under(r.rules, &probe))) != nil
}

// confirm is called by an operation when the rules allow it, and just before it
// touches p. It plans req, or compares p with what was approved. what is what the
// operation does beside that.
func (q *question) confirm(req Request, p resolved, what string, describe func() (shown.State, error)) (shown.State, error) {
	if q == nil {
		return shown.State{}, nil
	}
	s, err := describe()
	if err != nil {
		return s, err
	}
	fingerprint := shown.Digest(q.request.Workspace, string(req.Op), p.target, req.To, fmt.Sprint(req.Recursive), what, s.Fingerprint)
	switch {
	case !q.planning && fingerprint != q.request.Fingerprint:
		return s, errChanged
	case !q.planning:
		return s, nil
	}
	req.Workspace, req.Path, req.Fingerprint = q.request.Workspace, p.target, fingerprint
	req.Diff, req.Note = s.Diff, s.Note
	if p.name != p.target {
		req.Note = strings.TrimPrefix(req.Note+"; it was called by the name "+p.name, "; ")
	}
	q.request = req
	return s, errPlanned
}

// confirmName is confirm for an operation that changes nothing, and may look at
// names below p in the course of it. last says whether it follows a symlink that is
// the last element.
func (q *question) confirmName(ctx context.Context, op Op, p resolved, last bool) error {
	switch {
	case q == nil:
		return nil
	case q.planning:
		q.follows = last
		_, err := q.confirm(Request{Op: op}, p, "", func() (shown.State, error) { return shown.Name(ctx, p.files, p.target, last) })
		return err
	case p.name != q.name && (q.name == q.request.Path || !strings.HasPrefix(p.name, prefixOf(q.name))),
		p.target == rebase(p.name, q.name, q.request.Path):
		return nil
	}
	// The target is not known yet if there is a symlink in the name: then this is its error.
	_, err := shown.Name(ctx, p.files, p.target, q.follows)
	switch {
	case err != nil && p.name == q.name && q.follows && !last:
		return ctx.Err() // a search looks at the symlink in which it begins
	case err != nil:
		return err
	}
	return errChanged
}

// confirmPair is confirm for an operation that creates to.
func (q *question) confirmPair(ctx context.Context, op Op, from, to resolved, last bool) error {
	_, err := q.confirm(Request{Op: op, To: to.target}, from, "", func() (shown.State, error) {
		return shown.Tree(ctx, from.files, from.target, last, true)
	})
	return err
}
