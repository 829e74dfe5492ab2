package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// arguments returns the JSON object that the command line gives: as it is, from
// standard input, or collected from flags.
func (i *invocation) arguments(cmd *cobra.Command, positional []string) (json.RawMessage, error) {
	fromFlags, err := i.flagValues(cmd)
	if err != nil {
		return nil, err
	}
	if len(positional) == 0 {
		return json.Marshal(fromFlags)
	}
	if len(fromFlags) > 0 {
		return nil, errors.New("parameters are given both as flags and as a JSON object: give them in one way")
	}
	if positional[0] != "-" {
		return json.RawMessage(positional[0]), nil
	}
	data, err := readInput(cmd.Context(), cmd.InOrStdin())
	if err != nil {
		return nil, &runError{fmt.Errorf("standard input: %w", err)}
	}
	return data, nil
}

// flagValues returns the parameters that were given as flags.
func (i *invocation) flagValues(cmd *cobra.Command) (map[string]json.RawMessage, error) {
	values := map[string]json.RawMessage{}
	for _, p := range i.parameters {
		if p.value != nil {
			values[p.name] = p.value
		}
	}
	if !i.file.given(cmd) {
		return values, nil
	}
	if values["content"] != nil {
		return nil, errors.New("--content and --content-file exclude each other")
	}
	content, err := i.file.read(cmd)
	values["content"] = content
	return values, err
}
