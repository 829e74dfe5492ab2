package tools

import (
	"encoding/json"
	"fmt"
)

// Result is what a tool gives back.
type Result struct {
	// Structured is one JSON object: what the tool's OutputSchema describes,
	// or Error where IsError is set.
	Structured json.RawMessage
	// Text is the same for a model to read: compact and bounded.
	Text string
	// Image is an image that read_file read, otherwise nil.
	Image *Image
	// IsError says that the tool failed, and Error how.
	IsError bool
	// Error is nil unless IsError is set.
	Error *Error
}

// Image is an image for a model to look at.
type Image struct {
	// MIMEType is image/png, image/jpeg, image/gif or image/webp.
	MIMEType string
	// Data is the content of the file.
	Data []byte
}

func newResult(out answer) (*Result, error) {
	structured, err := encode(out, "")
	if err != nil {
		return nil, fmt.Errorf("marshal result: %w", err)
	}
	result := &Result{Structured: structured, Text: out.text()}
	if p, ok := out.(pictured); ok {
		result.Image = p.image()
	}
	return result, nil
}

func newErrorResult(e *Error) (*Result, error) {
	structured, err := encode(e, "")
	if err != nil {
		return nil, fmt.Errorf("marshal error: %w", err)
	}
	return &Result{Structured: structured, Text: e.text(), IsError: true, Error: e}, nil
}
