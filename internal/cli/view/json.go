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
	pages []json.RawMessage
	last  json.RawMessage
}

// Take implements [View].
func (v *JSON) Take(result *tools.Result) (page Page, err error) {
	v.last = result.Structured
	return page, decode(result, &page)
}

// Show implements [View].
func (v *JSON) Show() { v.pages = append(v.pages, v.last) }

// End implements [View].
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
// does; anything else is as in the last page.
func merge(pages []json.RawMessage) (map[string]any, error) {
	all := make([]map[string]any, len(pages))
	for i, page := range pages {
		decoder := json.NewDecoder(bytes.NewReader(page))
		decoder.UseNumber() // a float64 does not hold every size
		if err := decoder.Decode(&all[i]); err != nil {
			return nil, err
		}
	}
	lists := map[string][]any{}
	var text strings.Builder
	var skipped int64
	for _, page := range all {
		for name, value := range page {
			switch value := value.(type) {
			case []any:
				lists[name] = append(lists[name], value...)
				if lists[name] == nil {
					lists[name] = []any{}
				}
			case string:
				if name == "text" {
					text.WriteString(value)
				}
			case json.Number:
				if name == "skippedTotal" {
					n, err := value.Int64()
					if err != nil {
						return nil, err
					}
					skipped += n
				}
			}
		}
	}
	whole := all[len(all)-1]
	for name, list := range lists {
		whole[name] = list
	}
	if _, ok := whole["text"]; ok {
		whole["text"] = text.String()
	}
	if _, ok := whole["skippedTotal"]; ok {
		whole["skippedTotal"] = skipped
	}
	if line, ok := all[0]["startLine"]; ok {
		whole["startLine"] = line
	}
	if lists["cutLines"] != nil {
		whole["truncated"] = true
	}
	return whole, nil
}
