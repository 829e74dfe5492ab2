package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/tools"
)

// JSON prints one JSON object: the result as it is, or several pages as the one
// that they are parts of.
type JSON struct {
	Out   io.Writer
	pages []json.RawMessage // that have been shown
	last  json.RawMessage
}

// Take implements [View].
func (v *JSON) Take(result *tools.Result) (page Page, err error) {
	v.last = result.Structured
	return page, decode(result, &page)
}

// Show implements [View].
func (v *JSON) Show() { v.pages = append(v.pages, v.last) }

// End implements [View]. One page is printed as the tool returned it.
func (v *JSON) End() error {
	if len(v.pages) == 1 {
		_, err := fmt.Fprintf(v.Out, "%s\n", v.pages[0])
		return term.Fail(err)
	}
	whole, err := merge(v.pages)
	if err != nil {
		return term.Fail(err)
	}
	return term.PrintJSON(v.Out, whole)
}

// merge returns the result that pages are parts of. Lists and text are
// concatenated, and skippedTotal is added up. It begins where the first page
// does; anything else is as in the last page. So two pages of a file
//
//	{"text": "a\n", "startLine": 1, "endLine": 1, "nextLine": 2, "truncated": true}
//	{"text": "b\n", "startLine": 2, "endLine": 2, "truncated": false}
//
// are the result
//
//	{"text": "a\nb\n", "startLine": 1, "endLine": 2, "truncated": false}
func merge(pages []json.RawMessage) (map[string]any, error) {
	var first, whole map[string]any
	sum := sums{lists: map[string][]any{}}
	for _, page := range pages {
		decoder := json.NewDecoder(bytes.NewReader(page))
		decoder.UseNumber() // a float64 does not hold every size
		whole = nil
		if err := decoder.Decode(&whole); err != nil {
			return nil, err
		}
		if first == nil {
			first = whole
		}
		if err := sum.add(whole); err != nil {
			return nil, err
		}
	}
	for name, list := range sum.lists {
		whole[name] = list
	}
	if _, ok := whole["text"]; ok {
		whole["text"] = sum.text.String()
	}
	if _, ok := whole["skippedTotal"]; ok {
		whole["skippedTotal"] = sum.skipped
	}
	for _, name := range []string{"startLine", "column"} {
		if at, ok := first[name]; ok {
			whole[name] = at
		}
	}
	if sum.lists["cutLines"] != nil {
		whole["truncated"] = true
	}
	return whole, nil
}

// sums are what the members of several pages add up to.
type sums struct {
	lists   map[string][]any // the lists of all pages, by the names of their members
	text    strings.Builder
	skipped int64
}

// add adds a page: lists and texts are joined, and skippedTotal is added up.
func (s *sums) add(page map[string]any) error {
	for name, value := range page {
		switch value := value.(type) {
		case []any:
			if s.lists[name] == nil {
				s.lists[name] = []any{} // which stays a list if nothing is added
			}
			s.lists[name] = append(s.lists[name], value...)
		case string:
			if name == "text" {
				s.text.WriteString(value)
			}
		case json.Number:
			if name == "skippedTotal" {
				n, err := value.Int64()
				if err != nil {
					return err
				}
				s.skipped += n
			}
		}
	}
	return nil
}
