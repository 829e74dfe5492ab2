package document

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
	"github.com/workspacekit/workspacekit/internal/wording"
)

// reader makes nodes of YAML. It is for one file.
type reader struct {
	*Diagnostics
	lookup  func(string) (string, bool) // returns a variable of the environment, and whether it is set
	anchors map[string]*Node            // that have been read to their ends
	open    []string                    // the anchors of the nodes that are being read
	aliased int                         // nodes that aliases have repeated
}

// Read returns the content of a file with the variables replaced that lookup
// knows. It is nil if the file cannot be read at all or is empty. What is wrong
// is added to found.
func Read(data []byte, lookup func(string) (string, bool), found *Diagnostics) *Node {
	r := &reader{Diagnostics: found, lookup: lookup, anchors: map[string]*Node{}}
	return r.read(data)
}

// read is Read. What is wrong with the bytes, the syntax or the limits ends it, as all else
// would follow from that; what is wrong with a node makes that node broken, and the rest is
// read.
func (r *reader) read(data []byte) *Node {
	if r.checkBytes(data); len(r.found) > 0 {
		return nil
	}
	file := r.parse(string(data))
	if file == nil {
		return nil
	}
	var body ast.Node
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil || doc.Body.Type() == ast.CommentType || isYAMLDirective(doc.Body):
		case body != nil:
			r.Add(tokenPlace(doc.Start), "a file has one document: remove what follows %q", "---")
			return nil
		default:
			body = doc.Body
		}
	}
	if body == nil {
		r.Add(Position{}, "the file is empty: it needs the key %q", "workspaces")
		return nil
	}
	return r.node(body)
}

// checkBytes adds what is wrong with a file before it is read as YAML.
func (d *Diagnostics) checkBytes(data []byte) {
	switch {
	case len(data) > MaxBytes:
		d.Add(Position{}, "the file has more than %d bytes: split it", MaxBytes)
	case !utf8.Valid(data):
		d.Add(Position{}, "the file is not UTF-8 text: save it as such")
	case bytes.IndexByte(data, 0) >= 0:
		d.Add(Position{}, "the file has a NUL byte, and so is no text")
	}
}

// isYAMLDirective reports whether n is a line such as "%YAML 1.2", which means
// nothing here.
func isYAMLDirective(n ast.Node) bool {
	directive, ok := n.(*ast.DirectiveNode)
	return ok && directive.Name.GetToken().Value == "YAML"
}

// parse returns the syntax tree of a file, nil if there is none.
func (r *reader) parse(text string) *ast.File {
	tokens := lexer.Tokenize(text)
	if !r.checkLimits(tokens) {
		return nil
	}
	// Keys that repeat are for us to find, all of them.
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	var syntax yaml.Error
	switch {
	case errors.As(err, &syntax):
		r.addSyntax(tokenPlace(syntax.GetToken()), syntax.GetMessage())
		return nil
	case err != nil:
		r.Add(Position{}, "this is not YAML: %v", err)
		return nil
	}
	return file
}

// checkLimits adds the first token that is out of bounds, and reports whether
// there is none.
func (d *Diagnostics) checkLimits(tokens token.Tokens) bool {
	var l limits
	for _, t := range tokens {
		if wrong := l.enter(t); wrong != "" {
			d.Add(tokenPlace(t), "%s", wrong)
			return false
		}
	}
	return true
}

// addSyntax adds that a file is not YAML. The parser names a tab by itself, which
// nobody sees.
func (r *reader) addSyntax(at Position, message string) {
	if line := at.Line; line >= 1 && line <= len(r.Lines) {
		indentation := r.Lines[line-1][:len(r.Lines[line-1])-len(strings.TrimLeft(r.Lines[line-1], " \t"))]
		if tab := strings.IndexByte(indentation, '\t'); tab >= 0 {
			r.Add(Position{line, tab + 1}, "the line is indented with a tab: use spaces")
			return
		}
	}
	if wrong := r.unquoted(at); wrong != "" {
		r.Add(at, "%s", wrong)
		return
	}
	r.Add(at, "this is not YAML: %s; look at the indentation, brackets and quotes here and in the lines before", message)
}

// unquoted returns what is wrong at a place that is not YAML if that is a text which needs
// quotes, or other ones: patterns, variables and paths of Windows do. It is "" for anything else.
func (r *reader) unquoted(at Position) string {
	before, after := r.split(at)
	word := before[strings.LastIndexAny(before, " \t,:[{")+1:] + after
	word = word[:len(word)-len(strings.TrimLeft(word, "*@`%"))] // how it begins
	inner := strings.TrimRight(before, " ")
	last := inner[strings.LastIndexAny(inner, " \t,:[{")+1:]
	switch {
	case strings.HasSuffix(before, "$") && strings.HasPrefix(after, "{"):
		return `a variable between braces or brackets needs quotes: write "${NAME}"`
	case strings.HasSuffix(before, `\`), strings.HasPrefix(after, `"`) && strings.Contains(after, `\`):
		return `a backslash in double quotes begins an escape: use single quotes, or "/" in a path`
	case (strings.HasSuffix(before, "}") || strings.HasSuffix(before, "]")) && strings.IndexAny(after, " \t\r,:]}") != 0 && after != "":
		return `a text that begins with a brace or bracket needs quotes, as in "{a,b}/**"`
	case word != "", strings.HasPrefix(last, "*"):
		return fmt.Sprintf("a text that begins with %q needs quotes, as in \"*.md\"", cmp.Or(word, "*")[:1])
	}
	return ""
}

// split returns the parts of a line before and after a place.
func (r *reader) split(at Position) (before, after string) {
	if at.Line < 1 || at.Line > len(r.Lines) {
		return "", ""
	}
	line := []rune(r.Lines[at.Line-1])
	column := min(max(at.Column-1, 0), len(line))
	return string(line[:column]), string(line[column:])
}

func tokenPlace(t *token.Token) Position {
	if t == nil || t.Position == nil {
		return Position{}
	}
	return Position{t.Position.Line, t.Position.Column}
}

// placeOf returns where a node begins.
func placeOf(n ast.Node) Position {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return placeOf(n.Values[0])
		}
	case *ast.MappingValueNode:
		return placeOf(n.Key)
	}
	return tokenPlace(n.GetToken())
}

// node returns what n stands for. What is wrong is a problem that is added, and
// a node that is broken.
func (r *reader) node(n ast.Node) *Node {
	at := placeOf(n)
	switch n := n.(type) {
	case *ast.MappingNode:
		return r.mapping(at, n.Values)
	case *ast.MappingValueNode:
		return r.mapping(at, []*ast.MappingValueNode{n})
	case *ast.SequenceNode:
		return r.list(at, n)
	case *ast.StringNode:
		text := r.text(at, n.Value)
		_, after := r.split(at)
		text.Coded = n.Token.Type == token.DoubleQuoteType && numbered().MatchString(after)
		return text
	case *ast.LiteralNode:
		return r.text(at, n.Value.Value)
	case *ast.AnchorNode:
		return r.anchor(n)
	case *ast.AliasNode:
		return r.alias(at, n)
	case *ast.NullNode, *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return scalar(at, n)
	case *ast.TagNode:
		r.Add(at, "tags such as %q are not supported: remove it", n.Start.Value)
	default:
		r.Add(at, "a %s has no place here", strings.ToLower(n.Type().String()))
	}
	return broken(at)
}

// numbered matches a text in double quotes up to an escape that nobody writes by mistake.
var numbered = lazyregexp.New(`^"(?:[^"\\]|\\.)*?\\[xuU]`)

func broken(at Position) *Node { return &Node{Kind: Broken, At: at} }

func scalar(at Position, n ast.Node) *Node {
	raw := n.GetToken().Value
	kind := Null
	switch n.(type) {
	case *ast.BoolNode:
		kind = Bool
	case *ast.IntegerNode:
		kind = Int
	case *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		kind = Float
	}
	return &Node{Kind: kind, At: at, Text: raw, Raw: raw}
}

// text returns a text with its variables replaced.
func (r *reader) text(at Position, raw string) *Node {
	text, used, faults := expand(raw, r.lookup)
	for _, f := range faults {
		r.Add(r.find(at, f.part), "%s", f.text)
	}
	if len(faults) > 0 {
		return broken(at)
	}
	return &Node{Kind: Text, At: at, Text: text, Raw: raw, Used: used}
}

// find returns where part is in the line of a text, which may not show it as it is. If part is
// not in that line, it returns at: a text can go over several lines, and can have escapes.
func (r *reader) find(at Position, part string) Position {
	if at.Line < 1 || at.Line > len(r.Lines) {
		return at
	}
	line := []rune(r.Lines[at.Line-1])
	start := min(max(at.Column-1, 0), len(line))
	if before, _, ok := strings.Cut(string(line[start:]), part); ok {
		at.Column = start + len([]rune(before)) + 1
	}
	return at
}

func (r *reader) list(at Position, n *ast.SequenceNode) *Node {
	list := &Node{Kind: List, At: at}
	for _, value := range n.Values {
		item := r.node(value)
		if at, wrong := severalItems(value); wrong != "" {
			r.Add(at, "%s", wrong)
			item = broken(at)
		}
		list.Items = append(list.Items, item)
	}
	return list
}

// severalItems returns what is wrong with an item that is meant to be several, and where it
// begins: the lines of a text without quotes are one text, whatever they begin with.
func severalItems(n ast.Node) (at Position, wrong string) {
	if anchor, ok := n.(*ast.AnchorNode); ok {
		n = anchor.Value
	}
	text, ok := n.(*ast.StringNode)
	if !ok || text.Token.Type != token.StringType {
		return at, ""
	}
	at = placeOf(n)
	origin := text.Token.Origin
	switch {
	case strings.Contains(strings.TrimSpace(origin), "\n"):
		if entry := text.Token.Prev; entry != nil && entry.Type == token.SequenceEntryType { // the place of the text may be its end
			at = tokenPlace(entry)
			at.Column += 1 + len(origin) - len(strings.TrimLeft(origin, " "))
		}
		return at, "this item goes on in the next line, as one text: indent all items alike, separate those in brackets with commas, or write it in quotes in one line"
	case strings.Contains(text.Value, " - "):
		return at, `this item is one text with " - " in it: write each item in a line of its own, or this one in quotes`
	}
	return at, ""
}

// mapping returns a mapping with the keys in the order of the file. A key that is there twice
// is wrong, as readers of YAML differ in which of its values counts, and the first is kept.
func (r *reader) mapping(at Position, values []*ast.MappingValueNode) *Node {
	mapping := &Node{Kind: Map, At: at}
	lines := make(map[string]int, len(values))
	for _, value := range values {
		key, ok := r.key(value.Key)
		at := placeOf(value.Key)
		child := r.node(value.Value)
		if !ok {
			continue
		}
		if line, twice := lines[key]; twice {
			r.Add(at, "the key %q is there twice, first in line %d: remove one", Short(key), line)
			continue
		}
		lines[key] = at.Line
		mapping.Entries = append(mapping.Entries, Entry{key, at, child})
	}
	return mapping
}

// key returns the text of a key.
func (r *reader) key(n ast.MapKeyNode) (string, bool) {
	at := placeOf(n)
	switch n := n.(type) {
	case *ast.MergeKeyNode:
		r.Add(at, "the merge key %q is not supported: write the keys out", "<<")
		return "", false
	case *ast.MappingKeyNode, *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		r.Add(at, "a key must be a plain word")
		return "", false
	default:
		return n.GetToken().Value, true
	}
}

// anchor returns what an anchor names. While that is read, the name is in r.open, so that an
// alias inside of it is found out.
func (r *reader) anchor(n *ast.AnchorNode) *Node {
	if n.Name == nil {
		return r.node(n.Value)
	}
	name := n.Name.GetToken().Value
	r.open = append(r.open, name)
	value := r.node(n.Value)
	r.open = r.open[:len(r.open)-1]
	r.anchors[name] = value
	return value
}

// alias returns the node that an alias repeats. What aliases in aliases multiply to is
// bounded.
//
// If each of ten lines repeats the one before it ten times, a file stands for 10,000,000,000
// values. The nodes are shared, but whoever walks them would visit each.
func (r *reader) alias(at Position, n *ast.AliasNode) *Node {
	name := n.Value.GetToken().Value
	value, ok := r.anchors[name]
	if slices.Contains(r.open, name) {
		r.Add(at, "the alias *%s stands inside of what it repeats", name)
		return broken(at)
	}
	if !ok {
		if len(r.anchors) == 0 || strings.ContainsFunc(name, func(c rune) bool { return c != '-' && c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
			r.Add(at, "a text that begins with \"*\" needs quotes: write %q", "*"+name)
			return broken(at)
		}
		names := make([]string, 0, len(r.anchors))
		for known := range r.anchors {
			names = append(names, known)
		}
		r.Add(at, "there is no anchor &%s before this: %s", name, wording.Suggest(name, names))
		return broken(at)
	}
	if r.aliased > maxAliased { // which has been said
		return broken(at)
	}
	if r.aliased += value.size(maxAliased); r.aliased > maxAliased {
		r.Add(at, "aliases repeat more than %d values: write them out", maxAliased)
		return broken(at)
	}
	return value
}
