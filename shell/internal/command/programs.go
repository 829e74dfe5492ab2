package command

import (
	"context"
	"maps"
	"slices"
)

// Program reads, writes, and returns its exit status.
//
// It prints its own messages to p.Stderr, in the words of the program that it stands for, and
// flushes what it has buffered. It closes none of the streams of p. When ctx ends it returns
// soon, with any status, and prints nothing about it: the shell says why a script has ended. It
// holds at most about p.MaxMemory bytes of input at once. A panic in its own goroutine ends the
// command, and one in another goroutine the process.
type Program func(ctx context.Context, p *Process) int

// Programs are the programs by name. It is never changed.
//
// A function with several names asks Process.name which it was called by: egrep is grep -E,
// "[" wants a "]", and the program of checksums chooses the sum. For a few, such as echo and
// test, a builtin of the shell comes first in scripts; what is here is for xargs, find -exec,
// env and awk's system.
var Programs = map[string]Program{
	"[":         test,
	"awk":       awkProgram,
	"base32":    base32Program,
	"base64":    base64Program,
	"basename":  basename,
	"cat":       cat,
	"cksum":     cksum,
	"cmp":       cmpFiles,
	"column":    column,
	"comm":      comm,
	"cp":        cp,
	"cut":       cut,
	"date":      date,
	"diff":      diff,
	"dirname":   dirname,
	"du":        du,
	"echo":      echo,
	"egrep":     grep,
	"env":       env,
	"expand":    expand,
	"expr":      expr,
	"false":     func(context.Context, *Process) int { return 1 },
	"fgrep":     grep,
	"file":      fileKinds,
	"find":      find,
	"fold":      fold,
	"gawk":      awkProgram,
	"grep":      grep,
	"head":      head,
	"hexdump":   hexdump,
	"join":      join,
	"jq":        jq,
	"ln":        ln,
	"ls":        ls,
	"mawk":      awkProgram,
	"md5sum":    checksum,
	"mkdir":     mkdir,
	"mktemp":    mktemp,
	"mv":        mv,
	"nl":        nl,
	"od":        od,
	"paste":     paste,
	"patch":     applyPatch,
	"printenv":  printenv,
	"printf":    printf,
	"pwd":       pwd,
	"readlink":  readlink,
	"realpath":  realpath,
	"rev":       rev,
	"rg":        rg,
	"rm":        rm,
	"rmdir":     rmdir,
	"sed":       sed,
	"seq":       seq,
	"sha1sum":   checksum,
	"sha224sum": checksum,
	"sha256sum": checksum,
	"sha384sum": checksum,
	"sha512sum": checksum,
	"sleep":     sleep,
	"sort":      sortLines,
	"split":     split,
	"stat":      statFiles,
	"strings":   stringsProgram,
	"tac":       tac,
	"tail":      tail,
	"tee":       tee,
	"test":      test,
	"timeout":   timeout,
	"touch":     touch,
	"tr":        tr,
	"tree":      tree,
	"true":      func(context.Context, *Process) int { return 0 },
	"unexpand":  unexpand,
	"uniq":      uniq,
	"wc":        wc,
	"which":     which,
	"xargs":     xargs,
	"xxd":       xxd,
	"yes":       yes,
}

// Names returns the names of all programs, sorted. The caller may change the slice.
func Names() []string { return slices.Sorted(maps.Keys(Programs)) }
