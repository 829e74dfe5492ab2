package tools

import (
	"embed"
	"fmt"
	"strings"
	"text/template"

	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/tools/internal/edit"
)

//go:embed *.md
var descriptions embed.FS

// description returns what a model is told about the tool for op.
func (k *kit) description(op string) string {
	return strings.TrimSpace(k.fill(string(must(descriptions.ReadFile(op + ".md")))))
}

// fill fills in the limits, and the names of other tools, in a text.
func (k *kit) fill(source string) string {
	if !strings.Contains(source, "{{") {
		return source
	}
	t := must(template.New("").Funcs(template.FuncMap{"tool": k.name, "has": k.has}).Parse(source))
	var out strings.Builder
	if err := t.Execute(&out, k.facts()); err != nil {
		panic(fmt.Sprintf("tools: description: %v", err))
	}
	return out.String()
}

// has reports whether the set has a tool for op.
func (k *kit) has(op string) bool { return k.names[op] != "" }

// name returns the name of the tool for op, or op itself if the set has none.
func (k *kit) name(op string) string {
	if name := k.names[op]; name != "" {
		return name
	}
	return op
}

func (k *kit) facts() facts {
	return facts{
		ReadLines: readLines, ReadKiB: readBytes >> 10, LineChars: lineChars,
		Base64KiB: base64Bytes >> 10, ImageMiB: imageBytes >> 20,
		LsDefault: lsDefault, LsMax: lsMax, GlobDefault: globDefault, GlobMax: globMax,
		GrepDefault: grepDefault, GrepMax: grepMax, GrepContext: grepContext,
		GrepChars: grepChars, GrepSkipped: grepSkipped, ListKiB: listBytes >> 10,
		Edits: editsMax, Replaced: edit.MaxReplacements, DiffKiB: diffBytes >> 10,
		MaxFileSize: k.maxFileSize(), WholeSize: byteSize(k.whole.MaxFileSize()),
		Conditional: k.caps.ConditionalWrite,
	}
}

// maxFileSize writes the limit on files, and none if workspaces differ in it.
func (k *kit) maxFileSize() string {
	if k.unlikeSizes {
		return ""
	}
	return byteSize(k.ws.MaxFileSize())
}

// byteSize writes a limit the way people do, and none as "".
func byteSize(n int64) string {
	if n <= 0 {
		return ""
	}
	return wording.Bytes(n)
}
