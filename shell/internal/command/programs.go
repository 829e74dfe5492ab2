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
	"cat":    cat,
	"cp":     cp,
	"date":   date,
	"echo":   echo,
	"egrep":  grep,
	"false":  func(context.Context, *Process) int { return 1 },
	"fgrep":  grep,
	"find":   find,
	"grep":   grep,
	"head":   head,
	"ln":     ln,
	"ls":     ls,
	"mkdir":  mkdir,
	"mv":     mv,
	"nl":     nl,
	"printf": printf,
	"pwd":    pwd,
	"rev":    rev,
	"rg":     rg,
	"rm":     rm,
	"rmdir":  rmdir,
	"sed":    sed,
	"sleep":  sleep,
	"sort":   sortLines,
	"tac":    tac,
	"tail":   tail,
	"touch":  touch,
	"tr":     tr,
	"true":   func(context.Context, *Process) int { return 0 },
	"uniq":   uniq,
	"wc":     wc,
}

// Names returns the names of all programs, sorted.
func Names() []string { return slices.Sorted(maps.Keys(Programs)) }
