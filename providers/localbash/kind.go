package localbash

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/sys"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
	"github.com/workspacekit/workspacekit/workspace/kind"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// settings are the options of a folder of this computer, as a file has them.
type settings struct {
	Root          string       `json:"root" jsonschema:"The folder. A relative path starts at the folder of this file."`
	Sync          bool         `json:"sync,omitempty" jsonschema:"Makes every change durable before the call returns."`
	Relaxed       bool         `json:"relaxed,omitempty" jsonschema:"Follows symlinks that lead out of the folder, for changes only with protectConfig: false and no audit log in the file: whoever can create one then reaches every file of your user."`
	Run           *runSettings `json:"run,omitempty" jsonschema:"Lets callers run commands on this computer."`
	Index         bool         `json:"index,omitempty" jsonschema:"Keeps names and contents in memory for faster searches, on Linux."`
	IndexMemoryMb int64        `json:"indexMemoryMb,omitempty" jsonschema:"MiB that the index may take. Default: 256."`
}

// runSettings are those of the commands in a folder.
type runSettings struct {
	Enabled  bool              `json:"enabled" jsonschema:"Lets callers run commands."`
	Sandbox  string            `json:"sandbox,omitempty" jsonschema:"try a sandbox, require one, or off. Default: try."`
	Network  bool              `json:"network,omitempty" jsonschema:"Lets commands in the sandbox use the network."`
	Env      map[string]string `json:"env,omitempty" jsonschema:"Variables for commands."`
	Readable []string          `json:"readable,omitempty" jsonschema:"Directories and files elsewhere that commands in the sandbox can read."`
	ReadOnly []string          `json:"readOnly,omitempty" jsonschema:"Names, not globs, in the workspace that commands in the sandbox cannot change, if they exist when the command begins. The configuration and its logs are among them."`
	Limits   *runLimits        `json:"limits,omitempty" jsonschema:"Limits of commands. -1 leaves that of this process, for cpuTime -1s."`
}

// runLimits are the limits of commands. Zero means the default.
type runLimits struct {
	Processes int           `json:"processes,omitempty" jsonschema:"Processes and threads of the user. Default: 4096."`
	OpenFiles int           `json:"openFiles,omitempty" jsonschema:"Open files of a process, at least 16. Default: 4096."`
	MemoryMb  int           `json:"memoryMb,omitempty" jsonschema:"MiB that a process may allocate, but for shared memory. Default: 4096."`
	FileMb    int           `json:"fileMb,omitempty" jsonschema:"MiB of the largest file that is written. Default: 4096."`
	CPUTime   time.Duration `json:"cpuTime,omitempty" jsonschema:"How long a process may compute. Default: 1h."`
}

// options returns o for Open. Run is nil unless it is enabled.
func (o settings) options(in kind.Input) *Options {
	opts := &Options{Sync: o.Sync, Relaxed: o.Relaxed, Run: o.run(in)}
	if o.Index {
		opts.Index = &IndexOptions{MaxMemory: o.IndexMemoryMb << 20}
	}
	return opts
}

// check returns all that is wrong with o. It looks at nothing but o, and names the keys at fault.
func (o settings) check() error {
	var errs []error
	// As a path, a URL would be in a folder such as "file:", which can be spelled "./file:". One
	// letter is a drive.
	scheme, rest, colon := strings.Cut(o.Root, ":")
	colon = colon && len(scheme) > 1 && !strings.Contains(scheme, "/")
	switch {
	case o.Root == "":
		errs = append(errs, kind.KeyError("root", errors.New(`it is empty: name a folder, such as "." for the folder of the file`)))
	case colon && (strings.EqualFold(scheme, "file") || strings.HasPrefix(rest, "//")):
		errs = append(errs, kind.KeyError("root", errors.New("it is a URL: name a folder by its path, such as /srv/data")))
	}
	switch {
	case o.IndexMemoryMb < 0 || o.IndexMemoryMb > math.MaxInt64>>20:
		errs = append(errs, kind.KeyError("indexMemoryMb", fmt.Errorf("%d is no size in MiB: expected a number such as 256", o.IndexMemoryMb)))
	case o.IndexMemoryMb > 0 && !o.Index:
		errs = append(errs, kind.KeyError("indexMemoryMb", errors.New("there is no index: set index to true")))
	}
	if o.Run != nil {
		errs = append(errs, o.Run.check())
	}
	return errors.Join(errs...)
}

// Kind describes folders of this computer to package config. A reference to one has absolute
// paths, as it may be resolved by a process with another current folder, and lacks the
// environment of commands, which may have credentials.
func Kind() kind.Kind {
	return kind.Kind{
		Summary: "A folder of this computer.",
		Options: settings{},
		Open:    openKind,
		Check:   checkKind,
		Grants:  grantsOfKind,
		CanRun: func(in kind.Input) bool {
			var o settings
			return in.Decode(&o) != nil || o.run(in) != nil
		},
		Local:    true,
		Scheme:   "file",
		ParseURL: parseURL,
		About:    about,
		Ref: func(_ context.Context, fsys workspace.FileSystem, in kind.Input) (any, error) {
			var o settings
			err := in.Decode(&o)
			o.Root = fallback.Root(fsys)
			if o.Run != nil { // paths that are absolute, and no credentials
				run := *o.Run
				run.Env, run.Readable = nil, nil
				for _, path := range o.Run.Readable {
					run.Readable = append(run.Readable, in.Path(path))
				}
				o.Run = &run
			}
			return o, err
		},
	}
}

// openKind opens a folder for package config.
func openKind(_ context.Context, in kind.Input) (workspace.FileSystem, error) {
	var o settings
	if err := in.Decode(&o); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	fsys, err := Open(in.Path(o.Root), o.options(in))
	if err != nil {
		return nil, kind.KeyError("root", err)
	}
	return fsys, nil
}

// run returns the settings of commands, nil if nobody may run any. Commands must not change
// the file that grants them their rights, nor the logs of what they did, so these are
// read-only where they are below the folder.
func (o settings) run(in kind.Input) *Run {
	if o.Run == nil || !o.Run.Enabled {
		return nil
	}
	run := &Run{Sandbox: Sandbox(o.Run.Sandbox), Network: o.Run.Network, Env: o.Run.Env, ReadOnly: o.Run.ReadOnly}
	for _, path := range o.Run.Readable {
		run.Readable = append(run.Readable, in.Path(path))
	}
	run.protected = func() []string {
		return slices.DeleteFunc(in.ConfigNames(o.Root), func(name string) bool { return name == "." })
	}
	if l := o.Run.Limits; l != nil {
		run.Processes, run.OpenFiles, run.CPU = l.Processes, l.OpenFiles, l.CPUTime
		run.Memory, run.FileSize = int64(l.MemoryMb)<<20, int64(l.FileMb)<<20
	}
	return run
}

// check returns all that is wrong with the settings of commands. It is the same whether commands
// are enabled or not, except for the operating system.
func (r *runSettings) check() error {
	var errs []error
	wrong := func(key string, err error) { errs = append(errs, kind.KeyError(key, err)) }
	switch Sandbox(r.Sandbox) {
	case "", SandboxTry, SandboxRequire, SandboxOff:
	default:
		wrong("run.sandbox", fmt.Errorf("%q is no sandbox: use try, require or off", r.Sandbox))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Env)) {
		if !validVariable(name, r.Env[name]) {
			wrong("run.env", fmt.Errorf("%q is not a variable that commands can be given", name))
		}
	}
	for i, path := range r.Readable {
		if err := ops.CheckHostPath(path); err != nil {
			wrong(fmt.Sprintf("run.readable[%d]", i), err)
		}
		if showsProcesses(path) {
			wrong(fmt.Sprintf("run.readable[%d]", i), fmt.Errorf("%q has all processes of this computer: name what commands need", path))
		}
	}
	for i, name := range r.ReadOnly {
		switch {
		case strings.Contains(name, "*"):
			wrong(fmt.Sprintf("run.readOnly[%d]", i), fmt.Errorf("%q is a glob: name files and directories, such as .git/hooks", name))
		case !provider.ValidName(name) || name == ".":
			wrong(fmt.Sprintf("run.readOnly[%d]", i), fmt.Errorf("%q is not a name below the folder, such as .git/hooks", name))
		}
	}
	if l := r.Limits; l != nil {
		for _, limit := range []struct {
			key string
			n   int
		}{{"processes", l.Processes}, {"openFiles", l.OpenFiles}, {"memoryMb", l.MemoryMb}, {"fileMb", l.FileMb}} {
			if limit.n < -1 {
				wrong("run.limits."+limit.key, errors.New("it cannot be negative, but for -1, which is no limit"))
			}
			if strings.HasSuffix(limit.key, "Mb") && int64(limit.n) > math.MaxInt64>>20 {
				wrong("run.limits."+limit.key, fmt.Errorf("%d is too many MiB: -1 is no limit", limit.n))
			}
		}
		if tooFewFiles(l.OpenFiles) {
			wrong("run.limits.openFiles", fmt.Errorf("a shell needs %d at least", minOpenFiles))
		}
		if l.CPUTime < 0 && l.CPUTime != -time.Second {
			wrong("run.limits.cpuTime", errors.New("it cannot be negative, but for -1s, which is no limit"))
		}
	}
	if r.Enabled && runtime.GOOS != "linux" {
		wrong("run.enabled", errors.New("commands run on Linux only"))
	}
	return errors.Join(errs...)
}

// checkKind returns what is wrong with the options of a file, without opening
// the folder.
func checkKind(in kind.Input) error {
	var o settings
	if err := in.Decode(&o); err != nil {
		return err
	}
	if in.File == "" {
		return o.check()
	}
	if err := ops.CheckHostPath(o.Root); err != nil {
		return errors.Join(kind.KeyError("root", err), o.check())
	}
	return o.check()
}

// grantsOfKind says what a configuration file needs trust for: a folder
// outside its own, symlinks that may lead anywhere, and commands.
func grantsOfKind(in kind.Input) ([]string, error) {
	var o settings
	if err := in.Decode(&o); err != nil {
		return nil, err
	}
	var grants []string
	if !in.Inside(o.Root) {
		grants = append(grants, "the folder "+in.Path(o.Root))
	}
	if o.Relaxed {
		grants = append(grants, "whatever the symlinks in the folder lead to (relaxed)")
	}
	if run := o.run(in); run != nil {
		grants = append(grants, "any command on this computer ("+run.grant()+")")
	}
	return grants, nil
}

// grant says how far commands are confined.
func (r *Run) grant() string {
	said := "run, in a sandbox if there is one"
	switch r.Sandbox {
	case SandboxRequire:
		said = "run, in a sandbox"
	case SandboxOff:
		said = "run, without a sandbox"
	}
	if r.Network {
		said += ", with the network"
	}
	if len(r.Readable) > 0 {
		said += ", which can read " + strings.Join(r.Readable, ", ")
	}
	return said
}

// parseURL reads the URL of a folder, which is absolute:
//
//	file:///srv/my%20data                    /srv/my data
//	file:///srv/data?relaxed=true&sync=true  with two options
//	file:///C:/data                          C:\data, on Windows
//	file://server/data                       an error, as it names another computer
func parseURL(text string) (any, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host != "" || u.Path == "" || u.User != nil || u.Fragment != "" {
		return nil, errors.New("expected file:///path/of/a/folder, with %20 for a space")
	}
	o := settings{Root: filepath.FromSlash(u.Path)}
	if drive := strings.TrimPrefix(o.Root, `\`); filepath.VolumeName(drive) != "" {
		o.Root = drive // file:///C:/folder
	}
	return o, o.setParameters(u.RawQuery)
}

// setParameters sets the options from the query of a URL. There are switches alone: the other
// settings need a file.
func (o *settings) setParameters(text string) error {
	query, err := url.ParseQuery(text)
	if err != nil {
		return errors.New("what follows the question mark cannot be read: expected relaxed=true&sync=true or the like")
	}
	for name, target := range map[string]*bool{"relaxed": &o.Relaxed, "sync": &o.Sync, "index": &o.Index} {
		values, given := query[name]
		delete(query, name)
		if !given {
			continue
		}
		switch {
		case len(values) > 1:
			return fmt.Errorf("the parameter %q is there twice", name)
		case values[0] != "true" && values[0] != "false":
			return fmt.Errorf("%s is %q, and must be true or false", name, values[0])
		}
		*target = values[0] == "true"
	}
	if unknown := slices.Sorted(maps.Keys(query)); len(unknown) > 0 {
		return fmt.Errorf("the parameter %q is unknown: %s", unknown[0], wording.Suggest(unknown[0], []string{"relaxed", "sync", "index"}))
	}
	return nil
}

// about names the operating system and, where it is simple to know, the file system that the
// folder is on. It fails if commands need a sandbox and there is none.
func about(ctx context.Context, fsys workspace.FileSystem, _ kind.Input) (string, error) {
	said := sys.Name() + " (" + runtime.GOOS + "/" + runtime.GOARCH + ")"
	if kind := sys.FileSystem(fallback.Root(fsys)); kind != "" {
		said += ", " + kind
	}
	if local, ok := workspace.As[*FS](fsys); ok && local.folder.runner != nil {
		sandbox, err := local.Sandbox(ctx)
		if err != nil {
			return "", fmt.Errorf("commands are refused: %w", provider.Classify(errors.Unwrap(err)))
		}
		said += "; commands: " + sandbox
	}
	return said, nil
}
