package config_test

import (
	"context"
	"fmt"

	"github.com/workspacekit/workspacekit/workspace/kind"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// A program registers the kinds of provider that its files may name, and opens
// what a file describes.
func Example() {
	// greetingOptions are the options of the kind, as the file spells them.
	type greetingOptions struct {
		To string `json:"to" jsonschema:"Who is greeted."`
	}
	registry := &config.Registry{}
	err := registry.Register("greeting", kind.Kind{
		Summary: "A workspace with a greeting in it.",
		Options: greetingOptions{},
		Open: func(ctx context.Context, in kind.Input) (workspace.FileSystem, error) {
			var o greetingOptions
			if err := in.Decode(&o); err != nil {
				return nil, err
			}
			fsys := memory.New(nil)
			_, err := fsys.WriteFile(ctx, "hello.txt", []byte("Hello, "+o.To), nil)
			return fsys, err
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := config.Parse([]byte(`
workspaces:
  main:
    provider: { kind: greeting, to: "${WHO:-you}" }
    fs: { readOnly: true }
`), &config.Options{Registry: registry, Env: func(string) (string, bool) { return "", false }})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	opened, err := c.Open(ctx, registry)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer opened.Close()
	for _, ws := range opened.All() {
		data, err := ws.ReadFile(ctx, "hello.txt")
		fmt.Printf("%s: %s %v\n", ws.Name(), data, err)
	}
	// Output: main: Hello, you <nil>
}

// All that is wrong with a file is reported, with its place and a remedy.
func ExampleParse_errors() {
	_, err := config.Parse([]byte(`
workspaces:
  main:
    provider: mem://
    fs: { readonly: true, maxFileSizeMb: big }
`), nil)
	fmt.Println(err)
	// Output:
	// workspace.yaml:5:11: fs has no key "readonly": did you mean "readOnly"?
	//     5 |     fs: { readonly: true, maxFileSizeMb: big }
	//       |           ^
	// workspace.yaml:5:42: maxFileSizeMb must be a whole number, and is the text "big"
	//     5 |     fs: { readonly: true, maxFileSizeMb: big }
	//       |                                          ^
}
