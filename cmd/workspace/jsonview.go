package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// jsonView prints one JSON object: the result as it is, or several pages as
// the one that they are parts of.
type jsonView struct {
	out   io.Writer
	pages []json.RawMessage
}

func (v *jsonView) show(result json.RawMessage) error {
	v.pages = append(v.pages, result)
	return nil
}

func (v *jsonView) end() error {
	if len(v.pages) > 1 {
		whole, err := mergePages(v.pages)
		if err != nil {
			return fault(err)
		}
		return printJSON(v.out, whole)
	}
	_, err := fmt.Fprintf(v.out, "%s\n", v.pages[0])
	return fault(err)
}

// printJSON prints value on one line, without the escapes for HTML.
func printJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return fault(encoder.Encode(value))
}

// members are those of a JSON object.
type members map[string]json.RawMessage

// mergePages returns the result that pages are parts of: lists and text go on,
// skippedTotal adds up, it begins where the first page does, and anything else
// is as in the last one.
func mergePages(results []json.RawMessage) (map[string]any, error) {
	pages := make([]members, len(results))
	for n, result := range results {
		if err := json.Unmarshal(result, &pages[n]); err != nil {
			return nil, err
		}
	}
	whole := map[string]any{}
	for name, value := range pages[len(pages)-1] {
		whole[name] = value
	}
	for _, merge := range []func([]members, map[string]any) error{mergeLists, mergeText, mergeTotal} {
		if err := merge(pages, whole); err != nil {
			return nil, err
		}
	}
	if line, ok := pages[0]["startLine"]; ok {
		whole["startLine"] = line
	}
	return whole, nil
}

func mergeLists(pages []members, whole map[string]any) error {
	for _, name := range []string{"matches", "entries", "skipped", "cutLines"} {
		var all []json.RawMessage
		for _, page := range pages {
			var some []json.RawMessage
			if page[name] == nil {
				continue
			}
			if err := json.Unmarshal(page[name], &some); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			all = append(all, some...)
		}
		if _, listed := whole[name]; listed || all != nil {
			whole[name] = append([]json.RawMessage{}, all...)
		}
	}
	if whole["cutLines"] != nil {
		whole["truncated"] = true
	}
	return nil
}

func mergeText(pages []members, whole map[string]any) error {
	var all strings.Builder
	for _, page := range pages {
		var text string
		if page["text"] == nil {
			return nil
		}
		if err := json.Unmarshal(page["text"], &text); err != nil {
			return fmt.Errorf("text: %w", err)
		}
		all.WriteString(text)
	}
	whole["text"] = all.String()
	return nil
}

func mergeTotal(pages []members, whole map[string]any) error {
	sum := 0
	for _, page := range pages {
		var n int
		if page["skippedTotal"] == nil {
			return nil
		}
		if err := json.Unmarshal(page["skippedTotal"], &n); err != nil {
			return fmt.Errorf("skippedTotal: %w", err)
		}
		sum += n
	}
	whole["skippedTotal"] = sum
	return nil
}
