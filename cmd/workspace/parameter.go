package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// schema is what a flag is made from.
type schema struct {
	Type        string            `json:"type"`
	Description string            `json:"description"`
	Default     any               `json:"default"`
	Enum        []string          `json:"enum"`
	Properties  map[string]schema `json:"properties"`
	Required    []string          `json:"required"`
}

// parameter is a parameter of a tool as a flag. Bounds are left for the tool
// to check.
type parameter struct {
	name  string
	kind  string
	text  string          // as shown in the help
	value json.RawMessage // nil until the flag is given
}

var _ pflag.Value = (*parameter)(nil)

// addParameters adds a flag for each parameter that a tool's schema describes.
func addParameters(cmd *cobra.Command, input json.RawMessage) []*parameter {
	var s schema
	if err := json.Unmarshal(input, &s); err != nil {
		cmd.RunE = func(*cobra.Command, []string) error { return &runError{fmt.Errorf("schema: %w", err)} }
		return nil
	}
	var all []*parameter
	for name, property := range s.Properties {
		p := &parameter{name: name, kind: property.Type}
		p.addFlag(cmd, property, slices.Contains(s.Required, name))
		all = append(all, p)
	}
	return all
}

func (p *parameter) addFlag(cmd *cobra.Command, s schema, required bool) {
	usage := s.Description
	if required {
		usage += " (required)"
	}
	if s.Default != nil {
		p.text = fmt.Sprint(s.Default)
	}
	flag := cmd.Flags().VarPF(p, kebab(p.name), "", usage)
	if p.kind == "boolean" {
		flag.NoOptDefVal = "true"
	}
	switch {
	case len(s.Enum) > 0:
		suggestValues(cmd, flag.Name, s.Enum)
	case !slices.Contains([]string{"path", "source", "destination"}, p.name):
		_ = cmd.RegisterFlagCompletionFunc(flag.Name, cobra.NoFileCompletions)
	}
}

// String implements [pflag.Value].
func (p *parameter) String() string { return p.text }

// Type implements [pflag.Value].
func (p *parameter) Type() string {
	switch p.kind {
	case "integer":
		return "int"
	case "boolean":
		return "bool"
	case "string":
		return "string"
	}
	return "json"
}

// Set implements [pflag.Value].
func (p *parameter) Set(text string) (err error) {
	if p.value != nil && p.kind != "boolean" {
		return errors.New("it is given twice")
	}
	p.value, err = p.parse(text)
	return err
}

func (p *parameter) parse(text string) (json.RawMessage, error) {
	switch p.kind {
	case "integer":
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, errors.New("it must be a whole number, such as 5")
		}
		return json.Marshal(n)
	case "boolean":
		yes, err := strconv.ParseBool(text)
		if err != nil {
			return nil, errors.New("it must be true or false")
		}
		return json.Marshal(yes)
	case "string":
		return jsonString(text)
	}
	if !json.Valid([]byte(text)) {
		return nil, fmt.Errorf("it must be JSON, %s", p.example())
	}
	return json.RawMessage(strings.TrimSpace(text)), nil
}

func (p *parameter) example() string {
	if p.kind == "array" {
		return `such as '[{"oldText": "a", "newText": "b"}]'`
	}
	return "in quotes of the shell"
}

// jsonString encodes text, which must be UTF-8: JSON has no other bytes.
func jsonString(text string) (json.RawMessage, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("it is not valid UTF-8")
	}
	return json.Marshal(text)
}
