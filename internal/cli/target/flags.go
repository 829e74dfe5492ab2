// Package target finds the workspaces that the flags of all commands choose:
// those of a file, a folder, or what a URL stands for.
//
// [Flags.Select] decides between these and opens nothing. The [Selection] that
// it returns has a [Target] for each workspace, which opens it.
package target

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// largestLimit is the most that --max-file-size-mb can be: a tebibyte.
const largestLimit = 1 << 20

// maxConfig is how many bytes of a file are read from standard input. It is more
// than a file may have.
const maxConfig = 4 << 20

// Flags are the flags of all commands.
type Flags struct {
	// Workspaces are the values of -w.
	Workspaces []string
	// ReadOnly is --read-only.
	ReadOnly bool
	// Registry returns the kinds of provider. It makes them once.
	Registry func() *config.Registry

	set    *pflag.FlagSet
	locate Locator
	stdin  func() ([]byte, error) // reads a file from standard input, once

	config    string   // --config
	folders   []string // -C, which is given once
	name      string   // --name
	maxFileMB int64    // --max-file-size-mb
	relaxed   bool     // --relaxed
	sensitive bool     // --allow-sensitive
	color     string   // --color
	noColor   bool     // --no-color
}

// Locator finds the file, as [config.Locate] does.
type Locator func(explicit, dir string, env func(name string) (value string, set bool)) (config.Location, error)

// NewFlags adds the flags of all commands to root.
func NewFlags(root *cobra.Command, locate Locator) *Flags {
	f := &Flags{set: root.PersistentFlags(), locate: locate, Registry: sync.OnceValue(workspacekit.NewRegistry)}
	f.stdin = sync.OnceValues(func() ([]byte, error) {
		return ReadInput(root.Context(), root.InOrStdin(), maxConfig)
	})
	f.set.SortFlags = false
	f.set.StringVar(&f.config, "config", "", "use this `file` instead of the workspace.yaml in the current folder or a parent; - is standard input")
	f.set.StringArrayVarP(&f.Workspaces, "workspace", "w", nil, "use the workspace with this `name` (may be repeated), or a URL such as s3://bucket/prefix")
	f.set.StringArrayVarP(&f.folders, "folder", "C", nil, "use this `folder` or URL, and no file")
	f.set.StringVar(&f.name, "name", "main", "the name of the workspace, which its tools have in their names; without a file only")
	f.set.Int64Var(&f.maxFileMB, "max-file-size-mb", 10, "the largest file to write or copy, and for tools other than bash to read or search, in MiB; without a file only")
	f.set.BoolVar(&f.ReadOnly, "read-only", false, "make every workspace read-only, whatever the file says")
	f.set.BoolVar(&f.sensitive, "allow-sensitive", false, "allow files with the names of secrets, such as .env, and changes of .git, as sensitive: allow in the file does")
	f.set.BoolVar(&f.relaxed, "relaxed", false, "read through symlinks that lead out of the folder, and imply --allow-sensitive; without a file only")
	f.set.StringVar(&f.color, "color", "auto", "when to use colors: auto, always or never")
	f.set.BoolVar(&f.noColor, "no-color", false, "the same as --color never")
	// These fail for a flag that does not exist, which the tests would find.
	_ = root.MarkPersistentFlagFilename("config", "yaml", "yml")
	_ = root.RegisterFlagCompletionFunc("workspace", f.completeWorkspace)
	term.CompleteWith(root, "color", term.Colors...)
	return f
}

// MaxInput is how many bytes of a file with a session or tokens are read, and at least how many
// of parameters.
const MaxInput = 64 << 20

// ReadInput reads in to its end, or until ctx ends. More than limit bytes are an error.
func ReadInput(ctx context.Context, in io.Reader, limit int64) ([]byte, error) {
	return UntilDone(ctx, func() ([]byte, error) { return readAll(in, limit) })
}

// ReadFile is [ReadInput] for a file, which may be a pipe or a device.
func ReadFile(ctx context.Context, path string, limit int64) ([]byte, error) {
	return UntilDone(ctx, func() ([]byte, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return readAll(f, limit)
	})
}

// readAll reads in to its end. More than limit bytes are an error.
func readAll(in io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, fmt.Errorf("it has more than %s", wording.Bytes(limit))
	}
	return data, err
}

// UntilDone returns what read returns, or the error of ctx if that ends first: a person may
// press Ctrl-C instead of giving any input. Then read goes on, and what it reads is lost.
func UntilDone[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := read()
		done <- result{value, err}
	}()
	select {
	case <-ctx.Done():
		return *new(T), ctx.Err()
	case r := <-done:
		return r.value, r.err
	}
}

// completeWorkspace completes the names of the workspaces of the file. Whatever goes wrong, it
// offers nothing: there is nowhere to report it.
func (f *Flags) completeWorkspace(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	found, err := f.Find()
	if err != nil || found.Path == "" || len(f.folders) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	c, err := f.Load(found)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.Names(), cobra.ShellCompDirectiveNoFileComp
}

// Check refuses values that the types of the flags allow. It runs before every command.
func (f *Flags) Check() error {
	switch {
	case !slices.Contains(term.Colors, f.color):
		return fmt.Errorf("--color %q is unknown%s", f.color, term.Choose(f.color, term.Colors))
	case f.maxFileMB < 1 || f.maxFileMB > largestLimit:
		return fmt.Errorf("--max-file-size-mb must be from 1 to %d, and is %d", largestLimit, f.maxFileMB)
	}
	return nil
}

// Style returns the style for out.
func (f *Flags) Style(out io.Writer) term.Style {
	if f.noColor {
		return term.NewStyle(out, "never")
	}
	return term.NewStyle(out, f.color)
}

// Refuse returns an error if a flag was given to a command that has no use for
// it. why says why not. Every command has a use for the flags of colors; useful
// are other flags that it has a use for.
func (f *Flags) Refuse(why string, useful ...string) (err error) {
	useful = append(useful, "color", "no-color")
	f.set.VisitAll(func(flag *pflag.Flag) {
		if err != nil || !flag.Changed || slices.Contains(useful, flag.Name) {
			return
		}
		spelled := "--" + flag.Name
		if flag.Shorthand != "" {
			spelled = "-" + flag.Shorthand
		}
		err = fmt.Errorf("%s has no meaning %s", spelled, why)
	})
	return err
}
