package command

import (
	"context"
	"maps"
	"slices"
)

// Program reads, writes, and returns its exit status.
type Program func(ctx context.Context, p *Process) int

// Programs are the programs by name. It is never changed.
var Programs = map[string]Program{
	"cat":   cat,
	"echo":  echo,
	"false": func(context.Context, *Process) int { return 1 },
	"pwd":   pwd,
	"true":  func(context.Context, *Process) int { return 0 },
}

// Names returns the names of all programs, sorted.
func Names() []string { return slices.Sorted(maps.Keys(Programs)) }
