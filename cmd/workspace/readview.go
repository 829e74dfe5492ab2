package main

import (
	"encoding/json"
	"fmt"
)

// readView prints the text of a file and nothing else.
type readView struct {
	console
	last readResult
	cut  []int
}

type readResult struct {
	Path      string `json:"path"`
	Text      string `json:"text"`
	EndLine   int    `json:"endLine"`
	Total     int    `json:"totalLines"`
	NextLine  int    `json:"nextLine"`
	Truncated bool   `json:"truncated"`
	CutLines  []int  `json:"cutLines"`
	Size      int    `json:"size"`
	Binary    bool   `json:"binary"`
	MIMEType  string `json:"mimeType"`
	Base64    string `json:"base64"`
}

func (v *readView) show(result json.RawMessage) error {
	v.last = readResult{}
	if err := json.Unmarshal(result, &v.last); err != nil {
		return fault(err)
	}
	v.cut = append(v.cut, v.last.CutLines...)
	if v.last.Base64 != "" {
		fmt.Fprintln(v, v.last.Base64)
		return nil
	}
	if v.look.terminal { // which would obey what a file says
		v.WriteString(visible(v.last.Text, "\n\t\r"))
		return nil
	}
	v.WriteString(v.last.Text)
	return nil
}

func (v *readView) end() error {
	if err := v.Flush(); err != nil {
		return fault(err)
	}
	switch {
	case v.last.Binary && v.last.Base64 == "":
		v.note("%s is not text: %s, %d bytes; --encoding base64 prints the bytes of a small file", v.last.Path, v.last.MIMEType, v.last.Size)
	case v.last.NextLine > 0:
		v.note("%d of %d lines; go on with --line %d, or print them all with --all", v.last.EndLine, v.last.Total, v.last.NextLine)
	case v.last.Truncated && len(v.cut) == 0:
		v.note("the result is too long, and begins later than --tail asks for")
	}
	if len(v.cut) > 0 {
		v.note("%d lines are too long and cut, the first of them line %d", len(v.cut), v.cut[0])
	}
	return nil
}
