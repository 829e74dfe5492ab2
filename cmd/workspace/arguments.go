package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// arguments returns the JSON object that the command line gives: as it is, from
// standard input, or collected from flags and arguments.
func (i *invocation) arguments(cmd *cobra.Command, positional []string) (json.RawMessage, error) {
	fromFlags, err := i.flagValues(cmd)
	if err != nil {
		return nil, err
	}
	if len(positional) == 0 || !i.isObject(positional[0]) {
		if err := i.addPositional(fromFlags, positional); err != nil {
			return nil, err
		}
		return json.Marshal(fromFlags)
	}
	if len(fromFlags) > 0 {
		return nil, errors.New("parameters are given both as flags and as a JSON object: give them in one way")
	}
	if positional[0] != "-" {
		return json.RawMessage(positional[0]), nil
	}
	if err := i.settings.refuseStdin("the parameters"); err != nil {
		return nil, err
	}
	data, err := readInput(cmd.Context(), cmd.InOrStdin())
	if err != nil {
		return nil, &runError{fmt.Errorf("standard input: %w", err)}
	}
	return data, nil
}

// isObject reports whether an argument is the JSON object of all parameters, or
// says where that comes from. A glob may begin with a brace, too.
func (i *invocation) isObject(arg string) bool {
	arg = strings.TrimSpace(arg)
	if arg == "-" {
		return true
	}
	return strings.HasPrefix(arg, "{") &&
		(!slices.Contains(i.positional, "pattern") || strings.HasPrefix(arg, `{"`) || json.Valid([]byte(arg)))
}

// addPositional adds the parameters that arguments give in their order.
func (i *invocation) addPositional(values map[string]json.RawMessage, positional []string) error {
	for n, text := range positional {
		name := i.positional[n]
		if values[name] != nil {
			return fmt.Errorf("%s is given twice: as the argument %q and by --%s", name, text, name)
		}
		value, err := jsonString(text)
		if err != nil {
			return fmt.Errorf("argument %q: %w", text, err)
		}
		values[name] = value
	}
	return nil
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
	if i.file.name == stdinPath {
		if err := i.settings.refuseStdin("the content"); err != nil {
			return nil, err
		}
	}
	content, err := i.file.read(cmd)
	values["content"] = content
	return values, err
}
