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
	"[":         test,
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
	"echo":      echo,
	"egrep":     grep,
	"env":       env,
	"expand":    expand,
	"false":     func(context.Context, *Process) int { return 1 },
	"fgrep":     grep,
	"find":      find,
	"fold":      fold,
	"grep":      grep,
	"head":      head,
	"hexdump":   hexdump,
	"join":      join,
	"jq":        jq,
	"ln":        ln,
	"ls":        ls,
	"md5sum":    checksum(checksums["md5"]),
	"mkdir":     mkdir,
	"mv":        mv,
	"nl":        nl,
	"od":        od,
	"paste":     paste,
	"patch":     applyPatch,
	"printenv":  printenv,
	"printf":    printf,
	"pwd":       pwd,
	"realpath":  realpath,
	"rev":       rev,
	"rg":        rg,
	"rm":        rm,
	"rmdir":     rmdir,
	"sed":       sed,
	"seq":       seq,
	"sha1sum":   checksum(checksums["sha1"]),
	"sha224sum": checksum(checksums["sha224"]),
	"sha256sum": checksum(checksums["sha256"]),
	"sha384sum": checksum(checksums["sha384"]),
	"sha512sum": checksum(checksums["sha512"]),
	"sleep":     sleep,
	"sort":      sortLines,
	"split":     split,
	"strings":   stringsProgram,
	"tac":       tac,
	"tail":      tail,
	"tee":       tee,
	"test":      test,
	"touch":     touch,
	"tr":        tr,
	"true":      func(context.Context, *Process) int { return 0 },
	"unexpand":  unexpand,
	"uniq":      uniq,
	"wc":        wc,
	"which":     which,
	"xargs":     xargs,
	"xxd":       xxd,
	"yes":       yes,
}

// Names returns the names of all programs, sorted.
func Names() []string { return slices.Sorted(maps.Keys(Programs)) }
