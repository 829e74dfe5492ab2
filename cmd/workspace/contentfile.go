package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

const contentFileFlag = "content-file"

// contentFile is a file outside the workspace that holds the content to write.
type contentFile struct{ name string }

func (f *contentFile) addFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.name, contentFileFlag, "",
		`take the content from this file, named from the current folder; "-" is standard input`)
}

// given reports whether the flag was given, which an empty name can be too.
func (f *contentFile) given(cmd *cobra.Command) bool {
	flag := cmd.Flags().Lookup(contentFileFlag)
	return flag != nil && flag.Changed
}

// read returns the content as a JSON string.
func (f *contentFile) read(cmd *cobra.Command) (json.RawMessage, error) {
	data, err := f.bytes(cmd)
	if cmd.Context().Err() != nil {
		return nil, cmd.Context().Err()
	}
	if err != nil {
		return nil, fmt.Errorf("--%s %q: %s", contentFileFlag, f.name, plain(err))
	}
	content, err := jsonString(string(data))
	if err != nil {
		return nil, fmt.Errorf("--%s %q: %w, and only text can be written", contentFileFlag, f.name, err)
	}
	return content, nil
}

func (f *contentFile) bytes(cmd *cobra.Command) ([]byte, error) {
	if f.name == "-" {
		return readInput(cmd.Context(), cmd.InOrStdin())
	}
	return os.ReadFile(f.name)
}
