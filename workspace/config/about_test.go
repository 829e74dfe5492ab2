package config_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/workspace/kind"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// TestAbout tests what becomes of what a kind says.
func TestAbout(t *testing.T) {
	type options struct {
		Says string `json:"says"`
	}
	errMute := errors.New("mute")
	talks := kind.Kind{
		Options: options{},
		Open: func(context.Context, kind.Input) (workspace.FileSystem, error) {
			return memory.New(nil), nil
		},
		About: func(_ context.Context, fsys workspace.FileSystem, in kind.Input) (string, error) {
			if _, ok := fsys.(*memory.FS); !ok {
				t.Errorf("About got a %T, want what Open returned", fsys)
			}
			var o options
			if err := in.Decode(&o); err != nil || o.Says == "" {
				return "", errMute
			}
			return o.Says, nil
		},
	}
	r := &config.Registry{}
	for name, k := range map[string]kind.Kind{"talks": talks, "silent": {Options: talks.Options, Open: talks.Open}} {
		if err := r.Register(name, k); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name, provider, want string
		err                  error
	}{
		{"said", `{kind: talks, says: "Engine 1.2 (linux/amd64)"}`, "Engine 1.2 (linux/amd64)", nil},
		{"control-characters", `{kind: talks, says: "\e[2Ja\nb "}`, "[2Ja b", nil},
		{"long", `{kind: talks, says: "` + strings.Repeat("é", 300) + `"}`, strings.Repeat("é", 100), nil},
		{"error", `{kind: talks, says: ""}`, "", errMute},
		{"silent", `{kind: silent, says: x}`, "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			opened, err := parse(t, "", "workspaces: {main: {fs: {readOnly: true}, provider: "+test.provider+"}}").Open(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			defer opened.Close()
			got, err := opened.All()[0].About(t.Context())
			if got != test.want || !errors.Is(err, test.err) || !utf8.ValidString(got) {
				t.Errorf("About() = %q, %v, want %q, %v", got, err, test.want, test.err)
			}
		})
	}
}
