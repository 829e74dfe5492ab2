package tools

import (
	"encoding/base64"
	"encoding/json"
	"hash/fnv"
	"strconv"

	"github.com/workspacekit/workspacekit/workspace"
)

// cursor says where a listing goes on. A model sees it as one opaque word.
type cursor struct {
	Op    string             `json:"o"`           // the tool that made it
	Query string             `json:"q"`           // the hash of the parameters it belongs to
	After workspace.Position `json:"a,omitempty"` // the last result of the page before
}

// query returns a hash of parameters, from which those that may change from
// page to page have been taken out.
func (ts *toolset) query(parameters any) string {
	hash := fnv.New64a()
	hash.Write([]byte(ts.scope))
	// Parameters have been decoded from JSON, so they can be encoded.
	_ = json.NewEncoder(hash).Encode(parameters)
	return strconv.FormatUint(hash.Sum64(), 36)
}

// encodeCursor makes the cursor for the page after the given position.
func encodeCursor(op, query string, after workspace.Position) string {
	data, err := json.Marshal(cursor{Op: op, Query: query, After: after})
	if err != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

// decodeCursor returns the position that text stands for, the zero Position
// for an empty text.
//
// # Errors
//
// An [*argumentError] if text was not made by op for the same parameters.
func decodeCursor(op, query, text string) (workspace.Position, error) {
	if text == "" {
		return workspace.Position{}, nil
	}
	var c cursor
	data, err := base64.RawURLEncoding.DecodeString(text)
	if len(text) > cursorLength || err != nil || json.Unmarshal(data, &c) != nil || c.Op == "" {
		return workspace.Position{}, cursorError("is not one that a tool returned")
	}
	switch {
	case c.Op != op:
		return workspace.Position{}, cursorError("comes from another tool, " + clip(c.Op, 50))
	case c.Query != query:
		return workspace.Position{}, cursorError("comes from a call with other parameters")
	}
	return c.After, nil
}

func cursorError(why string) error {
	return &argumentError{
		message: `parameter "cursor" ` + why,
		hint:    "Repeat the call that returned nextCursor, unchanged but for cursor; or leave cursor out to begin again.",
	}
}

// fit returns how many of the first items have, together, at most listBytes
// of text; at least one, so that every page gets on.
func fit[T any](items []T, size func(T) int) int {
	total := 0
	for i, item := range items {
		if total += size(item); total > listBytes && i > 0 {
			return i
		}
	}
	return len(items)
}

// page cuts items to at most limit, and to what fits. more says that there are
// others.
func page[T any](items []T, limit int, size func(T) int) (_ []T, more bool) {
	n := min(len(items), limit)
	n = fit(items[:n], size)
	return items[:n:n], n < len(items)
}
