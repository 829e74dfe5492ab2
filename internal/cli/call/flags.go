package call

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// contentFlag names a file outside the workspace that holds the content to write.
const contentFlag = "content-file"

// addFlags adds a flag for each parameter of the tool. If the tool cannot be made, running the
// command is an error that says why.
func (i *invocation) addFlags(cmd *cobra.Command) {
	tool, err := i.definition(0)
	if err != nil {
		cmd.RunE = func(*cobra.Command, []string) error { return term.Fail(err) }
		return
	}
	for _, described := range tool.Parameters() {
		if strings.HasPrefix(described.Name, "-") {
			continue // it is in the JSON object of all parameters alone
		}
		p := &parameter{name: described.Name, kind: described.Type, text: strings.Trim(string(described.Default), `"`)}
		p.addFlag(cmd, described)
		i.parameters = append(i.parameters, p)
	}
	if i.dialect != "" {
		return
	}
	if slices.Contains(paged, i.Op) {
		cmd.Flags().BoolVar(&i.all, "all", false, "print all pages, instead of one")
	}
	if i.Op == ops.WriteFile {
		cmd.Flags().Lookup("content").Usage = "may be empty (required, or --" + contentFlag + ")"
		cmd.Flags().StringVar(&i.content, contentFlag, "", `write the bytes of this file, relative to the current folder; "-" is standard input`)
	}
}

// parameter is a parameter of a tool as a flag. The tool checks its bounds.
type parameter struct {
	name  string
	kind  string
	text  string // as shown in the help
	value any    // nil until the flag is given
}

var _ pflag.Value = (*parameter)(nil)

// addFlag adds the flag of p, which is described.
func (p *parameter) addFlag(cmd *cobra.Command, described tools.Parameter) {
	usage := described.Description
	if described.Required {
		usage += " (required)"
	}
	flag := cmd.Flags().VarPF(p, term.Kebab(p.name), "", usage)
	if p.kind == "boolean" {
		flag.NoOptDefVal = "true"
	}
	if len(described.Values) > 0 || !slices.Contains([]string{"path", "source", "destination"}, p.name) {
		term.CompleteWith(cmd, flag.Name, described.Values...)
	}
}

// String implements [pflag.Value].
func (p *parameter) String() string { return p.text }

// typeNames are the names of types in the help, by those in a schema.
var typeNames = map[string]string{"integer": "int", "boolean": "bool", "string": "string", "array": "json", "object": "json"}

// Type implements [pflag.Value].
func (p *parameter) Type() string { return typeNames[p.kind] }

// Set implements [pflag.Value]. A switch may be given again, and the last one counts; anything
// else is given once, as it is not clear which one was meant.
func (p *parameter) Set(text string) (err error) {
	if p.value != nil && p.kind != "boolean" {
		return errors.New("it is given twice")
	}
	switch p.kind {
	case "integer":
		if p.value, err = strconv.ParseInt(text, 10, 64); err != nil {
			return errors.New("it must be a whole number, such as 5")
		}
	case "boolean":
		p.value, err = strconv.ParseBool(text) // as all flags of the command do
		return err
	case "string":
		p.value = text
		return checkText(text)
	default:
		if !json.Valid([]byte(text)) {
			return errors.New(`it must be JSON, such as '[{"oldText": "a", "newText": "b"}]'`)
		}
		p.value = json.RawMessage(text)
	}
	return nil
}

// checkText returns an error if text is not UTF-8, as JSON has no other bytes.
func checkText(text string) error {
	if !utf8.ValidString(text) {
		return errors.New("it is not valid UTF-8")
	}
	return nil
}

// arguments are the parameters of a call: by their names, or as one JSON object.
type arguments struct {
	values map[string]any
	object json.RawMessage // if there are no values
}

// encode returns the arguments as JSON.
func (a arguments) encode() (json.RawMessage, error) {
	if a.values == nil {
		return a.object, nil
	}
	return json.Marshal(a.values)
}

// isObject reports whether an argument is the JSON object of all parameters, or
// says where to read it. A glob and a script may begin with a brace, too.
//
//	{"pattern": "TODO"}    an object
//	{a,b}/*.go             a glob, if the operation has a pattern
//	{ ls; pwd; }           a script, if the operation has a script or a command
//	{oops                  an object for other operations, whose error then says what is wrong
//	-                      an object, on standard input
func (i *invocation) isObject(arg string) bool {
	arg = strings.TrimSpace(arg)
	if arg == "-" {
		return true
	}
	free := func(name string) bool { return name == "pattern" || name == "script" || name == "command" }
	return strings.HasPrefix(arg, "{") &&
		(!slices.ContainsFunc(i.positional, free) || strings.HasPrefix(arg, `{"`) || json.Valid([]byte(arg)))
}

// textHint says how to give a text that would be an object to isObject.
func (i *invocation) textHint() string {
	hint := `a text that begins with "{" needs its flag`
	if len(i.positional) > 0 {
		name := i.positional[0]
		hint += ", such as --" + term.Kebab(name)
	}
	return hint
}

// arguments returns the parameters that the command line gives: as they are,
// from standard input, or collected from flags and arguments. These three are the
// same:
//
//	workspace call grep TODO --include-glob '*.go'
//	workspace call grep '{"pattern": "TODO", "includeGlob": "*.go"}'
//	echo '{"pattern": "TODO", "includeGlob": "*.go"}' | workspace call grep -
func (i *invocation) arguments(cmd *cobra.Command, positional []string) (arguments, error) {
	values, err := i.flagValues(cmd)
	switch {
	case err != nil:
		return arguments{}, err
	case len(positional) == 0 || !i.isObject(positional[0]):
		return arguments{values: values}, i.addPositional(values, positional)
	case len(values) > 0:
		return arguments{}, fmt.Errorf("parameters are given both as flags and as a JSON object: give them in one way; %s", i.textHint())
	}
	object := []byte(positional[0])
	if positional[0] == target.Stdin {
		if err := i.flags.RefuseStdin("the parameters"); err != nil {
			return arguments{}, err
		}
		chosen, err := i.flags.Select()
		if err != nil {
			return arguments{}, err
		}
		if object, err = target.ReadInput(cmd.Context(), cmd.InOrStdin(), chosen.MaxInput()); err != nil {
			return arguments{}, term.Failf("standard input: %w", err)
		}
	}
	return i.takeWorkspace(object)
}

// addPositional adds the parameters that arguments give in their order. A list takes all
// arguments.
func (i *invocation) addPositional(values map[string]any, positional []string) error {
	for n, text := range positional {
		name := i.positional[min(n, len(i.positional)-1)]
		if values[name] != nil && (n == 0 || !i.list) {
			return fmt.Errorf("%s is given twice: as the argument %q and by --%s", name, text, name)
		}
		if err := checkText(text); err != nil {
			return fmt.Errorf("argument %q: %w", text, err)
		}
		if values[name] = text; i.list {
			values[name] = positional
		}
	}
	return nil
}

// flagValues returns the parameters that were given as flags. The content of --content-file
// goes as base64, so that every byte arrives, unless a flag says what the text becomes.
func (i *invocation) flagValues(cmd *cobra.Command) (map[string]any, error) {
	values := map[string]any{}
	for _, p := range i.parameters {
		if p.value != nil {
			values[p.name] = p.value
		}
	}
	if !cmd.Flags().Changed(contentFlag) {
		return values, nil
	}
	if values["content"] != nil {
		return nil, errors.New("--content and --content-file exclude each other")
	}
	data, err := i.readContent(cmd)
	if err != nil {
		return nil, err
	}
	if values["encoding"] == nil && values["keepLineEnds"] == nil {
		values["content"], values["encoding"] = base64.StdEncoding.EncodeToString(data), "base64" // the bytes as they are
		return values, nil
	}
	if err := checkText(string(data)); err != nil {
		return nil, fmt.Errorf("--%s %q: %w: leave --encoding and --keep-line-ends out to write it as it is", contentFlag, i.content, err)
	}
	values["content"] = string(data)
	return values, nil
}

// readContent returns the content of the file that --content-file names, or standard input. The
// tool checks the size; the limit here is for what has no end. The file is outside the
// workspace, and is read with the rights of the user.
func (i *invocation) readContent(cmd *cobra.Command) ([]byte, error) {
	chosen, err := i.flags.Select()
	if err != nil {
		return nil, err
	}
	var data []byte
	if i.content == target.Stdin {
		if err := i.flags.RefuseStdin("the content"); err != nil {
			return nil, err
		}
		data, err = target.ReadInput(cmd.Context(), cmd.InOrStdin(), chosen.MaxInput())
	} else {
		data, err = target.ReadFile(cmd.Context(), i.content, chosen.MaxInput())
	}
	switch {
	case cmd.Context().Err() != nil:
		return nil, cmd.Context().Err()
	case err != nil:
		return nil, fmt.Errorf("--%s %q: %s", contentFlag, i.content, term.Plain(err))
	}
	return data, nil
}

// takeWorkspace lets the JSON object of all parameters name a workspace of the
// file, as calls do of tools that workspaces share. It returns the other
// parameters.
func (i *invocation) takeWorkspace(object json.RawMessage) (arguments, error) {
	unchanged := arguments{object: object}
	var given map[string]json.RawMessage
	var name string
	if json.Unmarshal(object, &given) != nil || json.Unmarshal(given["workspace"], &name) != nil {
		return unchanged, nil
	}
	if i.flags.WithoutFile() || config.IsURL(name) {
		return unchanged, nil // the tool refuses it
	}
	if chosen := i.flags.Workspaces; len(chosen) > 0 && !slices.Equal(chosen, []string{name}) {
		return unchanged, fmt.Errorf("-w %q and the parameter workspace %q name different workspaces: give one of them", chosen[0], name)
	}
	i.flags.Workspaces = []string{name}
	delete(given, "workspace")
	encoded, err := json.Marshal(given)
	return arguments{object: encoded}, err
}
