package main

import (
	"encoding/json"
	"fmt"
)

// globView prints one path on a line.
type globView struct {
	console
	cursor string
}

type globResult struct {
	Matches    []string `json:"matches"`
	NextCursor string   `json:"nextCursor"`
}

func (v *globView) show(result json.RawMessage) error {
	var found globResult
	if err := json.Unmarshal(result, &found); err != nil {
		return fault(err)
	}
	v.cursor = found.NextCursor
	for _, path := range found.Matches {
		fmt.Fprintln(v, v.look.name(path))
	}
	return nil
}

func (v *globView) end() error {
	if err := v.Flush(); err != nil {
		return fault(err)
	}
	v.noteMore(v.cursor)
	return nil
}
