package repotest_test

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/wording"
)

// TestNumbers compares limits and defaults in the text of documents with the constants of
// the code. A number in braces is a constant, with its unit: {providers/container.DefaultPIDs} is
// 1,024, {adapters/acp.maxReported bytes} is 64 KiB, and {adapters/acp.DefaultTimeout time}
// is 2 minutes.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for page, sentences := range map[string][]string{
		"docs/acp.md": {
			"| the file does not exist | {adapters/acp.codeNotFound}, resource not found |",
			"or it is outside the root | {adapters/acp.codePermission} |",
			"or lines that the file does not have | {adapters/acp.codeParams}, invalid params |",
			"text of more than about {adapters/acp.maxText bytes} as JSON | below",
			"(`Timeout`, {adapters/acp.DefaultTimeout time})",
			"Diffs are cut at {internal/unified.MaxBytes bytes}",
			"| `rawInput` | the arguments, up to {adapters/acp.maxReported bytes} |",
		},
		"docs/command/mcp.md": {"A token has at least {internal/httpguard.MinToken} characters"},
		"docs/config-history.md": {
			"changes can be undone ({workspace/backup.DefaultKeep} by default), up to `maxMb` of content ({workspace/backup.DefaultKeepBytes bytes})",
			"the call waits up to {workspace/gitstage.lockWait time}.",
		},
		"docs/container.md": {
			"| `Memory`, `CPUs`, `PIDs` | `2g`, all, {providers/container.DefaultPIDs} |",
			"`Timeout` ({providers/container.DefaultTimeout time})",
		},
		"docs/container-details.md": {
			"| `WriteFile`, `Create` up to {providers/container.maxInline bytes} | 1 |",
			"1 for each {providers/container/internal/remotegrep.maxWindow bytes} that it searches (with MaxResults first {providers/container/internal/remotegrep.shortWindow bytes}",
			"1 for each {providers/container/internal/remotegrep.batchSize bytes} or {providers/container/internal/remotegrep.batchFiles} files that must be read",
		},
		"docs/mcp.md": {
			"at most about {internal/httpguard.maxHeader bytes}, its body {adapters/mcp.DefaultMaxMessage bytes} (more where files may exceed 10 MiB), and each {adapters/mcp.DefaultReadTimeout time} to arrive",
			"A session to which nothing is posted ends after {adapters/mcp.DefaultSessionTimeout time}, also one that listens, and there are at most {adapters/mcp.DefaultMaxSessions}.",
		},
		"docs/objectstore.md": {
			"| Ls | 1 for {providers/objectstore/internal/listing.MaxKeys} entries",
			"index do not exclude, {providers/objectstore.DefaultWorkers} at a time",
			"a directory that a write looked for in the last {providers/objectstore.DefaultFolderTTL time} (at most {providers/objectstore/internal/dircache.maxDirs})",
			"at each interval ({providers/objectstore.DefaultPollInterval time})",
			"as WriteFile up to {providers/objectstore.DefaultPartSize bytes} (`PartSize`)",
			"Grep keeps up to {providers/objectstore.DefaultCacheSize bytes} of what it downloads",
			"from {providers/objectstore/internal/bucket.maxCopy bytes} on",
			"your own key of {providers/objectstore.customerKeySize bytes}",
		},
		"docs/running.md": {
			"an output above {tools.outputBytes bytes}",
			"its first {tools.spillBytes bytes}",
			"at most {workspace/jobs.DefaultRunning} commands at a time, and {tools.maxCommandSessions} sessions",
			"the last {workspace/jobs.DefaultEnded} that have ended",
		},
		"docs/shell.md": {
			"A script has at most {shell/internal/rewrite.MaxScript bytes}, the arguments of a command at most {shell.maxArguments bytes}",
			"one word makes at most {shell/internal/rewrite.maxBraces}",
			"scripts {shell.maxNested} deep",
		},
		"docs/tools.md": {
			"each gets its own tools, up to {tools.DefaultMaxTools} in all",
		},
		"docs/views.md": {
			"{internal/osfile.largestFile bytes} if there is no limit",
			"A body has {adapters/webdav.DefaultReadTimeout time} to arrive, and a second more for every {internal/httpguard.slowest bytes}",
			"Locks are at most {adapters/webdav.maxLocks}, each for at most {adapters/webdav.maxLockTime time}",
			"at most {adapters/webdav.maxXML bytes} in a request, and at most {adapters/webdav.maxProperties bytes} in all",
		},
	} {
		text := strings.Join(strings.Fields(read(t, page)), " ")
		for _, sentence := range sentences {
			want := regexp.MustCompile(`\{(\S+)\.(\w+) ?(\w*)\}`).ReplaceAllStringFunc(sentence, func(name string) string {
				name, unit, _ := strings.Cut(strings.Trim(name, "{}"), " ")
				return inUnit(constantOf(t, name), unit)
			})
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q", page, want)
			}
		}
	}
}

// inUnit writes a number as the documents do.
func inUnit(n int64, unit string) string {
	switch {
	case unit == "" && n > 0:
		return wording.Thousands(int(n))
	case unit == "time" && n == 3600e9:
		return "an hour"
	case unit == "time" && n == 60e9:
		return "a minute"
	case unit == "time" && n == 1e9:
		return "a second"
	case unit == "time" && n%60e9 == 0:
		return fmt.Sprint(n/60e9, " minutes")
	case unit == "time":
		return fmt.Sprint(n/1e9, " seconds")
	case unit == "bytes":
		shift := 0
		for ; n%(1<<10) == 0; n >>= 10 {
			shift++
		}
		return fmt.Sprint(n, " ", [...]string{"bytes", "KiB", "MiB", "GiB"}[shift])
	}
	return fmt.Sprint(n)
}

// constantOf returns the value of a constant, such as tools.MaxNameLength, whose
// declaration has numbers and units of time only.
func constantOf(t *testing.T, name string) int64 {
	t.Helper()
	dir, ident := path.Dir(name)+"/"+strings.Split(path.Base(name), ".")[0], path.Ext(name)[1:]
	declared := regexp.MustCompile(`(?m)^(?:const |\t)` + ident + `\s+=\s+([^/\n]+)`)
	for _, file := range files(t, ".go") {
		if path.Dir(file) != path.Clean(dir) || strings.HasSuffix(file, "_test.go") {
			continue
		}
		match := declared.FindStringSubmatch(read(t, file))
		if match == nil {
			continue
		}
		text := strings.NewReplacer("time.Hour", "3600e9", "time.Minute", "60e9", "time.Second", "1e9").Replace(match[1])
		value, err := types.Eval(token.NewFileSet(), nil, token.NoPos, text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		n, _ := constant.Int64Val(constant.ToInt(value.Value))
		return n
	}
	t.Fatalf("there is no constant %s", name)
	return 0
}
