package tools

import (
	"embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/workspacekit/workspacekit/internal/unified"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/tools/internal/edit"
	"github.com/workspacekit/workspacekit/workspace"
)

// properties are the parameters of a tool, by name. A shape changes them in place. Its
// methods panic for a name that the tool does not have, which any test of the tool finds.
type properties map[string]*jsonschema.Schema

// notNull takes null, which inference adds for every slice and pointer, out of the types of
// s: members are left out instead. It applies to all levels. Arguments may have a null all
// the same: see [checkArguments].
func notNull(s *jsonschema.Schema) {
	if rest := slices.DeleteFunc(slices.Clone(s.Types), func(t string) bool { return t == "null" }); len(rest) == 1 {
		s.Type, s.Types = rest[0], nil
	}
	for _, p := range s.Properties {
		notNull(p)
	}
	if s.Items != nil {
		notNull(s.Items)
	}
}

// open lets s have members that it does not describe: a result may grow.
func open(s *jsonschema.Schema) {
	s.AdditionalProperties = nil
	for _, p := range s.Properties {
		open(p)
	}
	if s.Items != nil {
		open(s.Items)
	}
}

// between bounds the integer name.
func (p properties) between(name string, low, high int) {
	p[name].Minimum = jsonschema.Ptr(float64(low))
	p[name].Maximum = jsonschema.Ptr(float64(high))
}

// atLeast bounds the integer name from below.
func (p properties) atLeast(name string, low int) { p[name].Minimum = jsonschema.Ptr(float64(low)) }

// byDefault says what stands for name where it is left out. The schema tells it to models,
// and nothing fills it in: the function of the tool does.
func (p properties) byDefault(name string, value any) {
	// The values are constants of this package, which can be marshaled.
	p[name].Default, _ = json.Marshal(value)
}

// oneOf lists the values of the string name. The empty string is not one of them: a parameter
// that has no value is left out.
func (p properties) oneOf(name string, values ...any) { p[name].Enum = values }

// tool makes the tool that s declares. What describes it costs more than most
// calls do, so it is made when somebody asks for it.
func (ts *toolset) tool(s spec, name string) *Tool {
	return newTool(ts, s, name, func() *jsonschema.Schema { return ts.inputSchema(s) })
}

// newTool makes a tool whose arguments input describes. input makes a new schema in each
// call: one is what arguments are checked against, and another is made short for models, in
// place. So bounds hold also where they are not told.
//
// The schemas and the description are made when they are used first, by one goroutine, and
// kept.
func newTool(ts *toolset, s spec, name string, input func() *jsonschema.Schema) *Tool {
	t := &Tool{Op: s.op, Name: name, Annotations: s.annotations, toolset: ts, does: s.does(), handler: s.handler, input: sync.OnceValue(input)}
	t.description = sync.OnceValue(func() string { return ts.description(s) })
	t.declared = sync.OnceValue(func() *jsonschema.Schema {
		in := terse(input())
		if _, texts, ok := ts.short(s); ok {
			compact(in, "", texts)
		}
		return in
	})
	t.inputJSON = sync.OnceValue(func() json.RawMessage { return must(json.Marshal(t.declared())) })
	t.outputJSON = sync.OnceValue(func() json.RawMessage {
		out := s.newOutput()
		ts.fillDescriptions(out)
		if _, _, ok := ts.short(s); ok {
			compact(out, "", nil)
		}
		return must(json.Marshal(out))
	})
	return t
}

// terse takes out of s what a model assumes anyway, as it pays for each character: that false
// and 0 are the defaults, and that there are no other parameters. A maximum of MaxInt32
// stands for none, and is left out, too, as is that a text may not be empty. It changes s, which must not be the schema that
// checks arguments.
func terse(s *jsonschema.Schema) *jsonschema.Schema {
	if text := string(s.Default); text == "false" || text == "0" {
		s.Default = nil
	}
	if s.Maximum != nil && *s.Maximum == math.MaxInt32 {
		s.Maximum = nil
	}
	s.AdditionalProperties, s.MinLength = nil, nil
	for _, p := range s.Properties {
		terse(p)
	}
	if s.Items != nil {
		terse(s.Items)
	}
	return s
}

// compact leaves in s the descriptions that are in texts, by the names of the parameters, and
// the description of the parameter that names a workspace. It takes out defaults, which
// results show, and bounds, which errors and notes tell. Like terse, it changes s at all
// levels, so it gets a schema of its own.
func compact(s *jsonschema.Schema, name string, texts map[string]string) {
	if name != workspaceParameter {
		s.Description = texts[name]
	}
	s.Default, s.Minimum, s.Maximum, s.MinItems, s.MaxItems = nil, nil, nil, nil, nil
	for property, p := range s.Properties {
		compact(p, property, texts)
	}
	if s.Items != nil {
		compact(s.Items, "", texts)
	}
}

// inputSchema describes the arguments of the tool that s declares. The order is important:
// shape may delete parameters, which prune then takes out of the order, and the descriptions
// are filled in when the rest is known.
func (ts *toolset) inputSchema(s spec) *jsonschema.Schema {
	in := s.newInput()
	if s.shape != nil {
		s.shape(in.Properties, ts)
	}
	prune(in)
	ts.fillDescriptions(in)
	return in
}

// must returns v. An error is a mistake in the types or texts of this package,
// which any test finds.
func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("tools: %v", err))
	}
	return v
}

// prune takes the names that a shape removed out of the order of s. Such a parameter must be
// optional: what is required stays so.
func prune(s *jsonschema.Schema) {
	s.PropertyOrder = slices.DeleteFunc(s.PropertyOrder, func(name string) bool {
		_, kept := s.Properties[name]
		return !kept
	})
}

// fillDescriptions fills in the limits, and the names of other tools, in what s says about
// its parts. It applies to all levels. Tags of Go fields are constants, so a text with a
// limit has a field of [facts] in its place: "up to {{.Base64KiB}} KiB".
func (ts *toolset) fillDescriptions(s *jsonschema.Schema) {
	s.Description = ts.fill(s.Description)
	for _, p := range s.Properties {
		ts.fillDescriptions(p)
	}
	if s.Items != nil {
		ts.fillDescriptions(s.Items)
	}
}

// canWrite reports whether the tools that change files belong in a set.
func canWrite(caps workspace.Capabilities) bool { return caps.Write }

//go:embed *.md
var descriptions embed.FS

// description returns what a model is told about the tool that s declares. That is the text
// of the spec if it has one; else, in a compact set, the section of compact.md; and else the
// file of the operation.
func (ts *toolset) description(s spec) string {
	if text, _, ok := ts.short(s); ok {
		return text
	}
	text := s.about
	if text == "" {
		text = string(must(descriptions.ReadFile(s.op + ".md")))
	}
	return strings.TrimSpace(ts.fill(text))
}

// short returns what compact.md says about the tool that s declares, and about its
// parameters by their names. It is not ok if the set is not compact, or the dialect
// has no other descriptions.
//
// A section of compact.md has the operation as its heading, one paragraph, and a line for
// each parameter whose name does not say enough:
//
//	# mkdir
//	Makes a directory.
//
//	recursive: create missing parents
//
// Parameters without a line have no description.
func (ts *toolset) short(s spec) (description string, parameters map[string]string, ok bool) {
	if !ts.compact || s.about != "" {
		return "", nil, false
	}
	_, section, _ := strings.Cut("\n"+string(must(descriptions.ReadFile("compact.md"))), "\n# "+s.op+"\n")
	section, _, _ = strings.Cut(section, "\n# ")
	description, rest, _ := strings.Cut(section, "\n\n")
	parameters = map[string]string{}
	for line := range strings.Lines(rest) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		parameters[name] = ts.fill(text)
	}
	return strings.TrimSpace(ts.fill(description)), parameters, true
}

// fill fills in the limits, and the names of other tools, in a text.
//
// A template can also test which tools there are:
//
//	{{if has "edit_file"}} To change a part, use {{tool "edit_file"}}.{{end}}
//
// A malformed template panics, as it is a constant of this package.
func (ts *toolset) fill(source string) string {
	if !strings.Contains(source, "{{") {
		return source
	}
	t := must(template.New("").Funcs(template.FuncMap{"tool": ts.name, "has": ts.has}).Parse(source))
	var out strings.Builder
	if err := t.Execute(&out, ts.facts()); err != nil {
		panic(fmt.Sprintf("tools: description: %v", err))
	}
	return out.String()
}

// has reports whether the set has a tool for op.
func (ts *toolset) has(op string) bool { return ts.names[op] != "" }

// name returns the name of the tool for op, or op itself if the set has none. op is an
// operation of the default set, whatever the dialect.
func (ts *toolset) name(op string) string {
	if name := ts.names[op]; name != "" {
		return name
	}
	return op
}

// facts returns the numbers and the words for the templates of descriptions, all from the
// constants that the tools use, so that descriptions change with them.
func (ts *toolset) facts() facts {
	f := facts{
		ReadLines: readLines, ReadKiB: readBytes >> 10, LineChars: lineChars,
		Base64KiB: base64Bytes >> 10, PartSize: ts.partSize(),
		LsDefault: lsDefault, LsMax: lsMax, GlobDefault: globDefault, GlobMax: globMax,
		GrepDefault: grepDefault, GrepMax: grepMax, GrepContext: grepContext,
		GrepChars: grepChars, GrepSkipped: grepSkipped, ListKiB: listBytes >> 10,
		Edits: editsMax, Replaced: edit.MaxReplacements, DiffKiB: unified.MaxBytes >> 10,
		MaxFileSize: ts.maxFileSize(), WholeSize: byteSize(ts.whole.MaxFileSize()),
		Appends: ts.caps.ConditionalWrite && ts.caps.Versions, CanEdit: editFileSpec.needs(ts.caps), CanMove: moveSpec.needs(ts.caps),
	}
	if ts.bash != nil {
		f.Programs, f.ShellRoot, f.Scratch = strings.Join(ts.bash.make.Programs(), " "), ts.bash.root(), ts.bash.scratchDir()
		f.OneRoot = len(ts.bash.toolsets) == 1
		f.Changes = slices.ContainsFunc(ts.bash.toolsets, func(member *toolset) bool { return member.caps.Write })
	}
	return f
}

// maxFileSize writes the limit on files, and none if workspaces differ in it. It is "" for no
// limit, too.
func (ts *toolset) maxFileSize() string {
	if ts.unlikeSizes {
		return ""
	}
	return byteSize(ts.ws.MaxFileSize())
}

// partSize writes the limit on images and documents, which are read whole.
func (ts *toolset) partSize() string { return byteSize(min(partBytes, ts.whole.MaxFileSize())) }

// byteSize writes a limit the way people do, and none as "".
func byteSize(n int64) string {
	if n <= 0 {
		return ""
	}
	return wording.Bytes(n)
}
