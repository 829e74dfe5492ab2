package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/itchyny/gojq"

	"github.com/workspacekit/workspacekit/internal/ctxregexp"
)

// jqPrelude hides functions of gojq: those that would read the time zone of the machine,
// those that make a value of any size in one step, for which fits and within ask first, those
// that search with a regular expression, which rehearse does before, and those that go through
// a whole value, or two, in one step, for which shallow, pairs and square ask. It adds keys_unsorted,
// which gojq leaves out, as objects have no order there. Names that begin with "_own" are changed, so that
// filters cannot call them. @json, "\(f)" and the like call tojson, tostring and the like.
//
// A definition sees only those before it and itself. So the body of _ownSetpath calls the
// setpath of gojq, and the body of the setpath after it calls _ownSetpath. A filter that
// defines one of these names hides it for itself, as in any jq.
//
// compile takes the definitions, and not the "." at the end.
const jqPrelude = `
def localtime: gmtime; def strflocaltime($format): strftime($format);
def keys_unsorted: keys;
def _ownMultiply(l; r): _multiply(l; r); def _multiply(l; r): r as $r | l as $l | _ownFits($l; $r) as $fits | _ownMultiply($l; $r);
def _ownSetpath(p; v): setpath(p; v); def setpath(p; v): _ownSetpath(p | _ownWithin(.); v);
def _ownPaths(p): (path(p) | _ownWithin(.)) as $p | getpath($p);
def _ownAssign(p; $v): _assign(p; $v); def _assign(p; $v): _ownAssign(_ownPaths(p); $v);
def _ownModify(p; f): _modify(p; f); def _modify(p; f): _ownModify(_ownPaths(p); f);
def _ownPick(p): pick(p); def pick(p): _ownPick(_ownPaths(p));
def _ownSubtract(l; r): _subtract(l; r); def _subtract(l; r): r as $r | l as $l | _ownPairs($l; $r) as $fits | _ownSubtract($l; $r);
def _ownContains(x): contains(x); def contains(x): x as $x | _ownPairs(.; $x) as $fits | _ownContains($x);
def _ownInside(x): inside(x); def inside(x): x as $x | _ownPairs($x; .) as $fits | _ownInside($x);
def _ownIndices(x): indices(x); def indices(x): x as $x | _ownPairs(.; $x) as $fits | _ownIndices($x);
def _ownIndex(x): index(x); def index(x): x as $x | _ownPairs(.; $x) as $fits | _ownIndex($x);
def _ownRindex(x): rindex(x); def rindex(x): x as $x | _ownPairs(.; $x) as $fits | _ownRindex($x);
def _ownTranspose: transpose; def transpose: _ownSquare | _ownTranspose;
def _ownTojson: tojson; def tojson: _ownShallow | _ownTojson;
def _ownTostring: tostring; def tostring: _ownShallow | _ownTostring;
def _ownFormat(f): format(f); def format(f): _ownShallow | _ownFormat(f);
def _ownTohtml: _tohtml; def _tohtml: _ownShallow | _ownTohtml;
def _ownTouri: _touri; def _touri: _ownShallow | _ownTouri;
def _ownTourid: _tourid; def _tourid: _ownShallow | _ownTourid;
def _ownTobase64: _tobase64; def _tobase64: _ownShallow | _ownTobase64;
def _ownTobase64d: _tobase64d; def _tobase64d: _ownShallow | _ownTobase64d;
def _ownFlatten: flatten; def flatten: _ownShallow | _ownFlatten;
def _ownFlatten($n): flatten($n); def flatten($n): _ownShallow | _ownFlatten($n);
def _ownMin: min; def min: _ownShallow | _ownMin;
def _ownMax: max; def max: _ownShallow | _ownMax;
def _ownSort: sort; def sort: _ownShallow | _ownSort;
def _ownUnique: unique; def unique: _ownShallow | _ownUnique;
def _ownBy(f): f | _ownShallow;
def _ownMinBy(f): min_by(_ownBy(f)); def min_by(f): _ownMinBy(f);
def _ownMaxBy(f): max_by(_ownBy(f)); def max_by(f): _ownMaxBy(f);
def _ownSortBy(f): sort_by(_ownBy(f)); def sort_by(f): _ownSortBy(f);
def _ownGroupBy(f): group_by(_ownBy(f)); def group_by(f): _ownGroupBy(f);
def _ownUniqueBy(f): unique_by(_ownBy(f)); def unique_by(f): _ownUniqueBy(f);
def _ownIn(s): IN(_ownBy(s)); def IN(s): _ownIn(s);
def _ownIn(src; s): IN(src; _ownBy(s)); def IN(src; s): _ownIn(src; s);
def _ownBsearch(x): bsearch(x); def bsearch(x): _ownBsearch(x | _ownShallow);
def _ownINDEX(s; f): INDEX(s; _ownBy(f)); def INDEX(s; f): _ownINDEX(s; f); def INDEX(f): INDEX(.[]; f);
def _ownDelpaths($paths): delpaths($paths); def delpaths($paths): _ownDelpaths($paths | _ownShallow | map(_ownWithin(.))); def del(f): delpaths([path(f)]);
def _ownFromstream(f): fromstream(f); def fromstream(f): _ownFromstream(f | _ownWithin(.[0]) as $path | .);
def _ownTest($re): test($re); def test($re): _ownRehearse($re; null; false) | _ownTest($re);
def _ownTest($re; $flags): test($re; $flags); def test($re; $flags): _ownRehearse($re; $flags; false) | _ownTest($re; $flags);
def _ownMatch($re): match($re); def match($re): _ownRehearse($re; null; false) | _ownMatch($re);
def _ownMatch($re; $flags): match($re; $flags); def match($re; $flags): _ownRehearse($re; $flags; false) | _ownMatch($re; $flags);
def _ownCapture($re): capture($re); def capture($re): _ownRehearse($re; null; false) | _ownCapture($re);
def _ownCapture($re; $flags): capture($re; $flags); def capture($re; $flags): _ownRehearse($re; $flags; false) | _ownCapture($re; $flags);
def _ownScan($re): scan($re); def scan($re): _ownRehearse($re; null; true) | _ownScan($re);
def _ownScan($re; $flags): scan($re; $flags); def scan($re; $flags): _ownRehearse($re; $flags; true) | _ownScan($re; $flags);
def _ownSplits($re): splits($re); def splits($re): _ownRehearse($re; null; true) | _ownSplits($re);
def _ownSplits($re; $flags): splits($re; $flags); def splits($re; $flags): _ownRehearse($re; $flags; true) | _ownSplits($re; $flags);
def _ownSplit($re; $flags): split($re; $flags); def split($re; $flags): _ownRehearse($re; $flags; true) | _ownSplit($re; $flags);
def _ownSub($re; to): sub($re; to); def sub($re; to): _ownRehearse($re; null; false) | _ownSub($re; to);
def _ownSub($re; to; $flags): sub($re; to; $flags); def sub($re; to; $flags): _ownRehearse($re; $flags; false) | _ownSub($re; to; $flags);
def _ownGsub($re; to): gsub($re; to); def gsub($re; to): _ownRehearse($re; null; true) | _ownGsub($re; to);
def _ownGsub($re; to; $flags): gsub($re; to; $flags); def gsub($re; to; $flags): _ownRehearse($re; $flags; true) | _ownGsub($re; to; $flags);
.`

// jqOwn is what begins the names of the functions of the prelude in place of "_own". No
// filter can spell it.
const jqOwn = "\x00"

// jqRewriter changes the tree of a query.
type jqRewriter struct {
	prelude bool            // it is of the prelude
	calls   map[string]bool // the functions that it calls
}

// jqDefinition is a function of the prelude, and which others it calls.
type jqDefinition struct {
	*gojq.FuncDef
	calls map[string]bool
}

// jqDefinitions returns the functions of the prelude. They never change.
var jqDefinitions = sync.OnceValues(func() (definitions []jqDefinition, err error) {
	prelude, err := gojq.Parse(jqPrelude)
	if err != nil {
		return nil, err
	}
	for _, definition := range prelude.FuncDefs {
		r := jqRewriter{prelude: true, calls: map[string]bool{}}
		r.rewrite(reflect.ValueOf(definition))
		definitions = append(definitions, jqDefinition{definition, r.calls})
	}
	return definitions, nil
})

// rewrite makes calls of functions of the operators that the prelude defines. In the
// prelude itself, it gives the functions their names. It walks the tree of a query by
// reflection, as the tree has many kinds of nodes, and few of them matter:
//
//	"a" * $n     _multiply("a"; $n), which asks _ownFits first
//	$a - $b      _subtract($a; $b), which asks _ownPairs first
//	.[$n] = 1    _assign(.[$n]; 1), whose paths go through _ownWithin
//	$a == $b     $a == ($b | _ownShallow): no more of $a is looked at than $b has
//	.[$a]        .[$a | _ownShallow], as $a can be an array that is looked for
//
// gojq compiles |=, += and the like to calls of _modify, which the prelude defines, so they
// need no rewriting. It compiles "=" with a constant path to a call of its own setpath,
// which no definition can hide: that is why _assign must be written out.
func (r *jqRewriter) rewrite(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		r.node(v.Interface())
		r.rewrite(v.Elem())
	case reflect.Struct:
		for _, field := range v.Fields() {
			r.rewrite(field)
		}
	case reflect.Slice:
		for i := range v.Len() {
			r.rewrite(v.Index(i))
		}
	}
}

// node changes one node of a tree.
func (r *jqRewriter) node(node any) {
	switch node := node.(type) {
	case *gojq.Query:
		switch name := map[gojq.Operator]string{gojq.OpMul: "_multiply", gojq.OpSub: "_subtract", gojq.OpAssign: "_assign"}[node.Op]; {
		case name == "_subtract" && (isLiteral(node.Left) || isLiteral(node.Right)):
		case name != "":
			call := &gojq.Func{Name: name, Args: []*gojq.Query{node.Left, node.Right}}
			node.Term, node.Left, node.Right, node.Op = &gojq.Term{Type: gojq.TermTypeFunc, Func: call}, nil, nil, 0
		case gojq.OpModify <= node.Op && node.Op <= gojq.OpUpdateAlt:
			r.call("_modify", "_multiply", "_subtract")
		case gojq.OpEq <= node.Op && node.Op <= gojq.OpLe && !r.prelude && !isLiteral(node.Left):
			node.Right = shallowQuery(node.Right)
		}
	case *gojq.Index:
		if node.Start != nil && !node.IsSlice && !r.prelude {
			node.Start = shallowQuery(node.Start)
		}
	case *gojq.String:
		if len(node.Queries) > 0 {
			r.call("tostring")
		}
	case *gojq.Term:
		if node.Type == gojq.TermTypeFormat {
			r.call("tojson", "tostring", "format", "_tohtml", "_touri", "_tourid", "_tobase64", "_tobase64d")
		}
	case *gojq.FuncDef:
		node.Name = ownName(node.Name, r.prelude)
	case *gojq.Func:
		node.Name = ownName(node.Name, r.prelude)
		r.call(node.Name)
	}
}

// call notes that functions are called.
func (r *jqRewriter) call(names ...string) {
	for _, name := range names {
		r.calls[name] = true
	}
}

// isLiteral reports whether a query is a number, a text or the like.
func isLiteral(q *gojq.Query) bool {
	if q.Term == nil || len(q.Term.SuffixList) > 0 {
		return false
	}
	switch q.Term.Type {
	case gojq.TermTypeNull, gojq.TermTypeTrue, gojq.TermTypeFalse, gojq.TermTypeNumber, gojq.TermTypeString:
		return true
	}
	return false
}

// shallowQuery returns q with a call of shallow after it.
func shallowQuery(q *gojq.Query) *gojq.Query {
	if isLiteral(q) {
		return q
	}
	call := &gojq.Func{Name: jqOwn + "Shallow"}
	return &gojq.Query{Left: q, Op: gojq.OpPipe, Right: &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: call}}}
}

// ownName returns the name of a function of the prelude.
func ownName(name string, prelude bool) string {
	if rest, ok := strings.CutPrefix(name, "_own"); ok && prelude {
		return jqOwn + rest
	}
	return name
}

// fits returns an error if the product of two values would be a string that is too long.
//
// The string may take a quarter of MaxMemory, since the filter holds other values, too. The
// factors come in either order, as in jq: 3 * "ab" is "ababab". Integers have maxJQBits. It
// returns an error as its value, which is how gojq takes errors.
func (j *jqRun) fits(_ any, args []any) any {
	if l, ok := args[0].(*big.Int); ok {
		if r, ok := args[1].(*big.Int); ok && l.BitLen()+r.BitLen() > maxJQBits {
			return fmt.Errorf("an integer of more than %d bits is not supported", maxJQBits)
		}
	}
	if _, err := j.measure(args[1]); err != nil { // of objects, only what both have is merged
		return err
	}
	for i, v := range args {
		s, isText := v.(string)
		n, isNumber := gojq.ToFloat64(args[1-i])
		if isText && isNumber && n*float64(len(s)) > float64(j.p.MaxMemory/4) {
			return fmt.Errorf("a string of more than %d bytes needs too much memory", j.p.MaxMemory/4)
		}
	}
	return true
}

// within returns a path, or an error if it has an index that needs too long an array.
//
// An array is filled with null up to the index, so the index alone decides. 64 bytes are
// counted for each element. Keys and slices in the path are no numbers, and pass.
func (j *jqRun) within(_ any, args []any) any {
	path, _ := args[0].([]any)
	if len(path) > maxJQDepth {
		return errJQDeep
	}
	for _, step := range path {
		if n, ok := gojq.ToFloat64(step); ok && n > float64(j.p.MaxMemory/64) {
			return fmt.Errorf("an array with the index %.3g needs too much memory", n)
		}
	}
	return args[0]
}

// The bounds of values that gojq goes through in one step.
const (
	maxJQDepth = 10_000  // levels, as where JSON is read
	maxJQPairs = 1 << 28 // of parts that are compared with each other, which takes a few seconds
	maxJQBits  = 1 << 17 // of a product
)

var errJQDeep = fmt.Errorf("arrays and objects that are more than %d levels deep in one another are not supported", maxJQDepth)

// jqSize is how large a value is. What is in it at two places counts twice.
type jqSize struct {
	parts, bytes int64 // bytes of its text, at most
}

// measure returns the size of v, or an error if it is too deep or too large.
func (j *jqRun) measure(v any) (size jqSize, err error) {
	err = size.add(v, 0, j.p.MaxMemory)
	return size, err
}

// add adds v, which is at a depth, and returns an error as soon as more is too much.
func (s *jqSize) add(v any, depth int, limit int64) error {
	if depth > maxJQDepth {
		return errJQDeep
	}
	s.parts++
	s.bytes += 1 + jqTextSize(v)
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			if err := s.add(element, depth+1, limit); err != nil {
				return err
			}
		}
	case map[string]any:
		for key, value := range v {
			s.bytes += 1 + jqTextSize(key)
			if err := s.add(value, depth+1, limit); err != nil {
				return err
			}
		}
	}
	if s.bytes > limit {
		return fmt.Errorf("a value of more than %d bytes needs too much memory", limit)
	}
	return nil
}

// jqTextSize returns how long the text of v is at most, without what is in it.
func jqTextSize(v any) int64 {
	switch v := v.(type) {
	case int:
		var digits [20]byte
		return int64(len(strconv.AppendInt(digits[:0], int64(v), 10)))
	case float64:
		return 24
	case *big.Int:
		return int64(v.BitLen()/3 + 2)
	case json.Number:
		return int64(len(v))
	case string:
		size := len(v) + 2
		for _, c := range v {
			switch {
			case c == '"', c == '\\':
				size++
			case c < ' ', c == 0x7f, c == utf8.RuneError:
				size += 5 // \u0001, \ufffd
			}
		}
		return int64(size)
	case []any, map[string]any:
		return 2
	}
	return 5 // null, true, false
}

// shallow returns v, or an error if it is too deep or too large.
func (j *jqRun) shallow(v any, _ []any) any {
	switch v.(type) {
	case []any, map[string]any:
		if _, err := j.measure(v); err != nil {
			return err
		}
	}
	return v
}

// pairs returns an error if two values have too many parts for each to be compared with each.
func (j *jqRun) pairs(_ any, args []any) any {
	_, isArray := args[0].([]any)
	if _, isObject := args[0].(map[string]any); !isArray && !isObject {
		return true
	}
	l, err := j.measure(args[0])
	if err != nil {
		return err
	}
	r, err := j.measure(args[1])
	if err != nil {
		return err
	}
	if l.bytes*r.parts > maxJQPairs {
		return fmt.Errorf("two values of %d and %d parts take too long to compare", l.parts, r.parts)
	}
	return true
}

// square returns v, or an error if the array has too many rows and columns to transpose it.
func (j *jqRun) square(v any, _ []any) any {
	rows, _ := v.([]any)
	columns := 0
	for _, row := range rows {
		row, _ := row.([]any)
		columns = max(columns, len(row))
	}
	if int64(len(rows))*int64(columns) > j.p.MaxMemory/16 {
		return fmt.Errorf("%d rows of %d columns need too much memory", columns, len(rows))
	}
	return v
}

// rehearse returns v once a large search in it, for the expression and the flags in args, or for
// all matches, has ended before the run has. The same search by gojq cannot be stopped, and ends
// as soon. It leaves all other errors to gojq.
func (j *jqRun) rehearse(v any, args []any) any {
	text, _ := v.(string)
	expr, flags, all := args[0], args[1], args[2] == true
	if list, ok := expr.([]any); ok && len(list) > 0 {
		if expr = list[0]; len(list) > 1 {
			flags = list[1]
		}
	}
	source, _ := expr.(string)
	options, _ := flags.(string)
	n := 1
	if all || strings.Contains(options, "g") {
		n = -1
	}
	prefix := ""
	if strings.Contains(options, "i") {
		prefix = "(?i)"
	}
	if strings.Contains(options, "m") {
		prefix += "(?s)"
	}
	re, ok := j.expressions[prefix+source]
	if !ok {
		var err error
		if re, err = ctxregexp.Compile(prefix+source, false); errors.Is(err, ctxregexp.ErrTooLarge) {
			return err
		}
		j.expressions[prefix+source] = re
	}
	if re != nil && !re.IsSmall(len(text), n) {
		re.AllString(j.ctx, text, n)
	}
	if err := j.ctx.Err(); err != nil {
		return err
	}
	return v
}

// compile reads a filter, and puts the prelude before it. Variables are passed by their
// order.
//
// The error is one of the syntax, or a function or variable that does not exist; jq prints
// it and returns 3. There is no module loader, so that import and include fail.
//
// gojq takes the variables twice: their names here, sorted, and their values in the same
// order with each run (jqInput.values).
func (j *jqRun) compile(filter string, named map[string]any) (*gojq.Code, error) {
	query, err := gojq.Parse(filter)
	if err != nil {
		return nil, err
	}
	r := jqRewriter{calls: map[string]bool{}}
	r.rewrite(reflect.ValueOf(query))
	definitions, err := jqDefinitions()
	if err != nil {
		return nil, err
	}
	var needed []*gojq.FuncDef
	for _, definition := range slices.Backward(definitions) { // each calls those before it only
		if r.calls[definition.Name] {
			needed = append(needed, definition.FuncDef)
			maps.Copy(r.calls, definition.calls)
		}
	}
	slices.Reverse(needed)
	query.FuncDefs = append(needed, query.FuncDefs...)
	names := []string{}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		names = append(names, "$"+name)
	}
	toStderr := func(prefix, end string) func(any, []any) any {
		return func(v any, _ []any) any {
			if _, err := j.measure(v); err != nil {
				return err
			}
			text, _ := gojq.Marshal(v)
			fmt.Fprintf(j.p.Stderr, "%s%s%s", prefix, text, end)
			return v
		}
	}
	code, err := gojq.Compile(query, gojq.WithVariables(names), gojq.WithEnvironLoader(j.p.Environ), gojq.WithInputIter(j.input),
		// debug prints ["DEBUG:", v], and its result is v.
		gojq.WithFunction("debug", 0, 0, func(v any, _ []any) any {
			if err, ok := toStderr("", "\n")([]any{"DEBUG:", v}, nil).(error); ok {
				return err
			}
			return v
		}),
		gojq.WithFunction("stderr", 0, 0, toStderr("", "")),
		gojq.WithFunction(jqOwn+"Fits", 2, 2, j.fits), gojq.WithFunction(jqOwn+"Within", 1, 1, j.within), gojq.WithFunction(jqOwn+"Rehearse", 3, 3, j.rehearse),
		gojq.WithFunction(jqOwn+"Shallow", 0, 0, j.shallow), gojq.WithFunction(jqOwn+"Pairs", 2, 2, j.pairs), gojq.WithFunction(jqOwn+"Square", 0, 0, j.square),
		gojq.WithFunction("input_filename", 0, 0, func(any, []any) any {
			if j.input.name == "" || j.input.name == "-" {
				return nil
			}
			return j.input.name
		}))
	if err != nil {
		return nil, err
	}
	j.input.values = nil
	for _, name := range names {
		j.input.values = append(j.input.values, named[name[1:]])
	}
	return code, nil
}
