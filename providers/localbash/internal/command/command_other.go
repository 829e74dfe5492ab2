//go:build !linux

package command

import (
	"context"
	"errors"
	"fmt"
)

// Runner runs nothing on this operating system.
type Runner struct{}

// New returns [errors.ErrUnsupported]: only Linux can end every process that a command
// has started, whatever becomes of this one.
func New(string, Settings) (*Runner, error) {
	return nil, fmt.Errorf("commands run on Linux only: %w", errors.ErrUnsupported)
}

// Sandbox returns [errors.ErrUnsupported].
func (*Runner) Sandbox(context.Context) (string, error) { return "", errors.ErrUnsupported }

// Run returns [errors.ErrUnsupported].
func (*Runner) Run(context.Context, Command) (Result, error) {
	return Result{}, errors.ErrUnsupported
}

// Close does nothing.
func (*Runner) Close() error { return nil }
