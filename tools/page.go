package tools

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// place is where a page ends: the last result of it. Its cursor is one word that a
// model can read, with a check that binds it to its query:
//
//	server.log:4851#1k3f9a            a line, of grep
//	src/a.go#x03pd1                   a path, of glob and ls
//	src/a.go:7@dk4r7q2hp5xs#0a7yc1    with the time of the file, in an order by time
//	~c3JjL2EgYi5nbw#1n2c8x            a path that is not plain, such as "src/a b.go"
//
// The check keeps a model from making up cursors. It is no secret: whatever the place
// is, a page has only results that the caller may see.
type place struct {
	workspace.Position
	modified int64 // when the file was modified, in nanoseconds; only in an order by time
}

// query returns a hash of parameters, from which those that may change from page to page have
// been taken out. So a cursor is refused if the query has changed, as its page would not
// continue the one before. What only changes how much of a result is shown, such as the
// limit, is not part of it. Workspaces that share their tools differ in the scope.
func (ts *toolset) query(parameters any) string {
	hash := fnv.New64a()
	hash.Write([]byte(ts.scope))
	// Parameters have been decoded from JSON, so they can be encoded.
	_ = json.NewEncoder(hash).Encode(parameters)
	return strconv.FormatUint(hash.Sum64(), 36)
}

// plainPath matches the paths that a cursor shows as they are. It has none of the characters
// that separate the parts of a cursor, and no "~" at the start, which marks a path in base64.
var plainPath = lazyregexp.New(`^[\pL\pN._/+=,-][\pL\pN._/+=,~-]*$`)

// cursor makes the cursor for the page after p. timed says that the order is by time. A line
// is only in those of grep.
func (p place) cursor(op, query string, timed bool) string {
	text := p.Path
	if !plainPath().MatchString(text) {
		text = "~" + base64.RawURLEncoding.EncodeToString([]byte(text))
	}
	if op == ops.Grep {
		text += ":" + strconv.Itoa(p.LineNumber)
	}
	if timed {
		text += "@" + strconv.FormatInt(p.modified, 36)
	}
	check := fnv.New32a()
	fmt.Fprintf(check, "%s\x00%s\x00%s", op, query, text)
	return text + "#" + strconv.FormatUint(uint64(check.Sum32()), 36)
}

// decodePlace is decodeCursor for a place. It makes the cursor of what it has read again: if
// that is another text, the check, the spelling or the parts are not those of this query.
func decodePlace(op, query, text string, timed bool) (place, error) {
	if text == "" {
		return place{}, nil
	}
	p, ok := parsePlace(text)
	if !ok || p.cursor(op, query, timed) != text {
		return place{}, &argumentError{
			message: `parameter "cursor" is not the nextCursor of a call of this tool with these parameters`,
			hint:    "Repeat the call that returned nextCursor, unchanged but for cursor; or leave cursor out to begin again.",
		}
	}
	return p, nil
}

// parsePlace reads a cursor. Only one that place.cursor makes again is valid.
//
// It reads from the right, so that a ":" or an "@" in what it cannot read does no harm: a
// path with one is in base64. Numbers that are malformed become 0, and decodePlace then
// refuses the cursor.
func parsePlace(text string) (p place, ok bool) {
	if len(text) > cursorLength {
		return p, false
	}
	text, _, _ = cutLast(text, "#")
	if body, modified, timed := cutLast(text, "@"); timed {
		text = body
		p.modified, _ = strconv.ParseInt(modified, 36, 64)
	}
	if body, line, found := cutLast(text, ":"); found {
		text = body
		p.LineNumber, _ = strconv.Atoi(line)
	}
	p.Path = text
	if encoded, odd := strings.CutPrefix(text, "~"); odd {
		path, err := base64.RawURLEncoding.DecodeString(encoded)
		p.Path = string(path)
		return p, err == nil
	}
	return p, true
}

// cutLast cuts text at the last separator.
func cutLast(text, separator string) (before, after string, found bool) {
	if at := strings.LastIndex(text, separator); at >= 0 {
		return text[:at], text[at+len(separator):], true
	}
	return text, "", false
}

// fit returns how many of the first items have, together, at most listBytes of text; at least
// one, so that every page gets on. size estimates the bytes of one item in the result. The
// first is shown even if it has more than listBytes. Of no items, 0 fit.
func fit[T any](items []T, size func(T) int) int {
	total := 0
	for i, item := range items {
		if total += size(item); total > listBytes && i > 0 {
			return i
		}
	}
	return len(items)
}

// page cuts items to at most limit, and to what fits. more says that there are others. It
// knows only about items, so a caller whose items have a limit asks its workspace for
// limit+1. The result cannot grow into the rest of items.
func page[T any](items []T, limit int, size func(T) int) (_ []T, more bool) {
	n := min(len(items), limit)
	n = fit(items[:n], size)
	return items[:n:n], n < len(items)
}
