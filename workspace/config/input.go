package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/workspacekit/workspacekit/workspace/kind"
)

// The kinds of provider that this package opens are described by package kind.
type (
	// Kind is a [kind.Kind].
	Kind = kind.Kind
	// Input is a [kind.Input].
	Input = kind.Input
)

// KeyError is [kind.KeyError].
func KeyError(key string, err error) error { return kind.KeyError(key, err) }

// assign is a decode of options that there are already.
func assign(options any) func(into any) error {
	return func(into any) error {
		v, target := reflect.ValueOf(options), reflect.ValueOf(into).Elem()
		if v.Kind() == reflect.Pointer && !v.IsNil() {
			v = v.Elem()
		}
		if !v.IsValid() || v.Type() != target.Type() {
			return fmt.Errorf("config: the options are a %T, and not to be decoded into a %T", options, into)
		}
		target.Set(v)
		return nil
	}
}

// decodeJSON is a decode of what a reference keeps.
func decodeJSON(data []byte) func(into any) error {
	return func(into any) error {
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(into); err != nil {
			return fmt.Errorf("config: the payload of the reference cannot be read: %w", err)
		}
		if decoder.More() {
			return errors.New("config: the payload of the reference has more than one value")
		}
		return nil
	}
}
