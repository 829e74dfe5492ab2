package engine

import (
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// Error is an error of an engine or of its client, in words that show no
// path, address or credential of the computers that these run on.
type Error struct {
	kind   error // of the contract; nil if it is none of its kinds
	text   string
	remedy string
	cause  error // nil if there is nothing to tell apart
}

func (e *Error) Error() string { return e.text }
func (e *Error) Unwrap() error { return e.cause }

// Remedy returns what a person can do about it, for those who ask an error for
// this method.
func (e *Error) Remedy() string { return e.remedy }

// Fault returns what an engine's client said when it failed as an error:
// [workspace.ErrUnavailable] if the same may succeed later, or if nothing is
// known about it.
func Fault(said string) *Error {
	lines := strings.Split(strings.ToLower(said), "\n")
	for i := len(lines) - 1; i >= 0; i-- { // what matters is said last
		if warning().MatchString(lines[i]) {
			continue
		}
		for _, d := range diagnoses {
			if d.of().MatchString(lines[i]) {
				return &Error{kind: d.kind, text: d.text, remedy: d.remedy}
			}
		}
	}
	text := shell.OneLine(withoutPlaces(said))
	if text == "" {
		text = "the engine's client failed without a word"
	}
	return &Error{kind: workspace.ErrUnavailable, text: text, remedy: checkEngine}
}

// warning matches a line that a client writes without failing.
var warning = lazyregexp.New(`^warning: |\blevel=(warning|info|debug)\b|^(warn|info|debug)\[`)

const (
	checkEngine = "see that the engine runs and that its client works in a terminal"
	checkOption = "correct the option, or leave it out"
)

// ShellFault returns the error of a shell that did not open: what the engine's
// client said, or that there is no shell.
func ShellFault(err *shell.BrokenError) error {
	if errors.As(err.Cause, new(*NotInstalledError)) || errors.As(err.Cause, new(*Error)) {
		return err.Cause
	}
	fault := Fault(err.Complaint)
	switch {
	case errors.Is(err, shell.ErrSilent):
		fault = &Error{kind: workspace.ErrUnavailable, text: err.Error(), remedy: checkEngine}
	case err.Complaint == "":
		fault.text = brokenText(err)
	}
	if fault.kind == workspace.ErrUnavailable {
		fault.cause = err // worth another try
	}
	return fault
}

// brokenText returns what is said about a shell that has ended.
func brokenText(err *shell.BrokenError) string {
	hidden := *err
	hidden.Complaint = withoutPlaces(err.Complaint)
	return withoutPlaces(hidden.Error())
}

const (
	noWorkdir   = "there is no such working directory in the image"
	noShell     = "the image has no shell that can be started"
	chooseImage = "choose an image that has sh and the usual programs"
)

// noContainer and nameTaken are texts of faults.
const (
	noContainer = "there is no such container"
	nameTaken   = "another container has this name"
)

// isNoContainer reports whether an engine says that a container does not exist, or
// soon will not.
func isNoContainer(err error) bool {
	var fault *Error
	return errors.As(err, &fault) && fault.text == noContainer
}

// FirstFault returns err, with which the first shell did not open. Engines end
// with the statuses that shells have for a program that is not there, also for a
// container that is being stopped: what they say, if it is known, counts.
func FirstFault(err error) error {
	const cannotRun, notFound = 126, 127
	var fault *Error
	var broken *shell.BrokenError
	var exit interface{ ExitCode() int }
	if errors.As(err, &fault) && fault.remedy == checkEngine && errors.As(err, &broken) && errors.As(broken.Exit, &exit) && (exit.ExitCode() == cannotRun || exit.ExitCode() == notFound) {
		return &Error{kind: errors.ErrUnsupported, text: noShell, remedy: chooseImage}
	}
	return err
}

// IsNoShell reports whether err says that there is no such program as the shell,
// or as the one that starts it.
func IsNoShell(err error) bool {
	var fault *Error
	var missing *NotInstalledError
	return errors.As(err, &fault) && fault.text == noShell || errors.As(err, &missing) && missing.program == "env"
}

// LaterFault returns err, with which one more shell did not open. There was one,
// so if there seems to be none the container is being stopped. If this user may no
// longer use the engine that is no property of a file, which a search would skip.
func LaterFault(err error) error {
	var fault *Error
	switch {
	case !errors.As(err, &fault):
		return err
	case errors.Is(fault.kind, errors.ErrUnsupported):
		return &Error{kind: workspace.ErrUnavailable, text: "the container starts no more shells", remedy: "see that the container runs", cause: fault.cause}
	case errors.Is(fault.kind, fs.ErrPermission):
		return &Error{text: fault.text, remedy: fault.remedy}
	}
	return err
}

// Visible returns err, with which a container could not be reached, created or
// removed, with its kind and a text that callers may see.
func Visible(err error) error {
	var missing *NotInstalledError
	var fault *Error
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &missing):
		return provider.Errorf(errors.ErrUnsupported, "%w", missing)
	case errors.As(err, &fault):
		return provider.Errorf(fault.kind, "%w", fault)
	}
	return provider.Errorf(workspace.ErrUnavailable, "%w", err)
}

// Broken returns the error of a shell that ended in the middle of a call, for
// Visible.
func Broken(broken *shell.BrokenError) error {
	return &Error{kind: workspace.ErrUnavailable, text: brokenText(broken), remedy: "see that the container runs", cause: broken}
}

// startFault returns why a client could not be started, without its path.
func startFault(program string, err error) error {
	name := filepath.Base(program)
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, exec.ErrDot), errors.Is(err, fs.ErrNotExist):
		return &NotInstalledError{program: name, path: name != program}
	case errors.Is(err, fs.ErrPermission):
		return &Error{kind: fs.ErrPermission, text: name + " cannot be run by this user", remedy: "give this user the right to run it"}
	}
	return errors.New(name + " cannot be started: " + withoutPlaces(err.Error()))
}

// NotInstalledError says that a program is not there. It is also
// [exec.ErrNotFound], by which callers can tell it from what an image lacks.
type NotInstalledError struct {
	program string
	path    bool // it was looked for at a path, and not in PATH
}

func (e *NotInstalledError) Error() string {
	if e.path {
		return "there is no " + e.program + " at the path given"
	}
	return e.program + " is not installed here"
}

// Remedy says what to do.
func (e *NotInstalledError) Remedy() string {
	if e.path {
		return "correct the path in the options or the variable WORKSPACE_ENGINE"
	}
	return "install it, and see that PATH leads to it"
}

func (e *NotInstalledError) Is(target error) bool { return target == exec.ErrNotFound }

// place matches a word that may name a path or an address: what has a slash or
// a backslash in it, in quotes if it begins with one, and what has the number of
// a port or is an address of the Internet Protocol.
var place = lazyregexp.New(`"(?:[a-zA-Z]:)?[/\\][^"]*"|'(?:[a-zA-Z]:)?[/\\][^']*'|` +
	`[^\s"'()<>,=]*[/\\][^\s"'()<>,]*|` +
	`\[[0-9a-fA-F:.]*:[0-9a-fA-F:.]*\](?::\d+)?|\b\d{1,3}(?:\.\d{1,3}){3}\b(?::\d+)?|(?:\b[\w-]+(?:\.[\w-]+)+|\blocalhost):\d+`)

// ignored matches the warning of an engine that has created a container without
// what it was asked for.
var ignored = lazyregexp.New(`discard(ed|ing)|not supported and ignored|does not match the (specified|expected) platform`)

// withoutPlaces returns words without what may name a path or an address.
func withoutPlaces(words string) string {
	return place().ReplaceAllStringFunc(words, func(word string) string {
		switch strings.ToLower(strings.Trim(word, ".:;")) {
		case "i/o", "input/output":
			return word
		}
		return "[hidden]"
	})
}

// diagnosis is what a line of an engine's client means.
type diagnosis struct {
	of     func() *regexp.Regexp // matches the line in lower case
	kind   error
	text   string
	remedy string
}

// diagnoses are what the clients of Docker, Podman and containerd and kubectl
// say about failures, special cases first. What is not [workspace.ErrUnavailable]
// stays as it is until somebody corrects it.
var diagnoses = []diagnosis{
	// The right to use an engine or a cluster.
	{
		lazyregexp.New(`permission denied while trying to connect|(connect|socket).*: permission denied`), fs.ErrPermission,
		"this user may not use the engine", "give this user the right to its socket, or use an engine of this user's own",
	},
	{
		lazyregexp.New(`server \(forbidden\)|is forbidden: |upgrade connection: forbidden`), fs.ErrPermission,
		"the cluster forbids this", "get the right to create pods/exec in the namespace",
	},
	{
		lazyregexp.New(`you must be logged in to the server|server \(unauthorized\)|upgrade connection: unauthorized`), fs.ErrPermission,
		"the cluster does not accept the credentials", "log in, or correct the context",
	},
	{
		// Registries say the same of an image that does not exist.
		lazyregexp.New(`pull access denied|\bunauthorized(: |"?$)|(^|: )denied(: |"?$)|(unexpected status.*|from registry) 40[13] |requested access to the resource is denied|no basic auth credentials`), fs.ErrPermission,
		"there is no such image, or the registry does not give it to this user", "correct its name, or log in to the registry",
	},

	// What does not exist, or exists already.
	{lazyregexp.New(`no such container|no container with name or id|is marked for removal|removal of container .* in progress`), nil, noContainer, "create it, or correct its name"},
	{lazyregexp.New(`multiple ids found with provided prefix|more than one result for container`), nil, "several containers have numbers that begin so", "name one of them"},
	{lazyregexp.New(`\(notfound\): namespaces |namespaces? "[^"]*" not found`), nil, "there is no such namespace", "correct it"},
	{lazyregexp.New(`\(notfound\)|pods? "[^"]*" not found`), nil, "there is no such pod", "create it, or correct its name, namespace or context"},
	{lazyregexp.New(`container \S+ not found in pod|container \S+ is not valid for pod`), nil, "the pod has no such container", "correct its name"},
	{lazyregexp.New(`in a completed pod`), nil, "the pod has ended", "create it again, or name one that runs"},
	{lazyregexp.New(`the server doesn't have a resource type`), nil, "the cluster knows no such kind of thing", "correct the name of the pod"},
	{lazyregexp.New(`name .* is already (in use|used) by`), nil, nameTaken, "remove it, or choose another name"},
	{
		lazyregexp.New(`no such image|image not known|image not available|manifest unknown|repository \S+ not found|(failed to resolve reference|reading manifest|initializing source).*not found|did not resolve to an alias`), nil,
		"there is no such image", "pull or build it, or correct its name",
	},
	{lazyregexp.New(`invalid reference format|must be lowercase|invalid image name|could not parse reference`), nil, "this is not the name of an image", "correct it"},
	{lazyregexp.New(`invalid container name|names must match|invalid identifier`), nil, "this is not a name for a container", "use letters, digits, and in between dots, dashes and underscores"},
	{lazyregexp.New(`unable to find (user|group)|no matching entries in (passwd|group) file|no users found`), nil, "the image has no such user", "correct user, or give a number"},
	{lazyregexp.New(`uids and gids must be in range`), nil, "the engine refuses the number of the user", "give one from 0 to 2147483647"},
	{lazyregexp.New(`network .*not found|no such network`), nil, "there is no such network", "create it, or correct its name"},
	{
		lazyregexp.New(`bind source path does not exist|statfs .*no such file or directory|failed to stat .*no such file or directory`), nil,
		"a folder to be mounted does not exist where the engine runs", "create it, or correct mounts",
	},
	{lazyregexp.New(`^error: context .* does not exist|context (was )?not found|error: no context exists`), nil, "there is no such context", "correct it, or create it"},
	{lazyregexp.New(`connection "[^"]*" not found|no such connection`), nil, "there is no such connection", "correct it, or create it"},
	{lazyregexp.New(`invalid configuration|no configuration has been provided|^error: error loading config file|^error: stat .*config: `), nil, "kubectl has no configuration that it can use", "correct it, or name another context"},

	{
		lazyregexp.New(`rootfs is marked read-only|is read-?only|read-only file system`), fs.ErrPermission,
		"the root of the container, or a mount, cannot be changed", "name a workspaceDir that is there, or list it in tmpfs",
	},
	{lazyregexp.New(`chdir to cwd|workdir .* does not exist|working directory .* is invalid`), nil, noWorkdir, "correct workspaceDir"},
	{
		lazyregexp.New(`mount.* (not|is) a directory|onto a file \(or vice-versa\)`), nil,
		"a folder would be mounted on a file, or a file on a folder", "correct mounts or tmpfs",
	},
	{lazyregexp.New(`cannot mkdir: .* is not a directory|: lstat .*: not a directory|workdir .* not a directory`), workspace.ErrNotDir, "the working directory is a file, or below one", "correct workspaceDir"},
	{lazyregexp.New(`permission denied \(\w+.*\)|host key verification failed`), fs.ErrPermission, "the host does not accept this user, or is not known", "correct the key, the user or the known hosts"},

	// What the engine or the image cannot do.
	{lazyregexp.New(`exec format error`), errors.ErrUnsupported, "the image is for another processor", "choose one for this platform"},
	{
		lazyregexp.New(`exec: \\?"?(/\S*/)?(sh|env)\\?"?: |executable file .*not found|invoke a command that was not found|exec:? /?(bin/)?sh: (no such file|not found)|\benv: (can't execute )?\W{0,4}(\S*/)?sh\W{0,3}: no such file`), errors.ErrUnsupported,
		noShell, chooseImage,
	},
	{
		lazyregexp.New(`does not match the (specified|expected) platform|no matching manifest for|no match for platform|no image found in (manifest list|image index)|platform specifier|does not provide the specified platform|parsing (host )?platform`), errors.ErrUnsupported,
		"the image is not there for this platform", "correct platform, or leave it out",
	},
	{
		lazyregexp.New(`(client|server|api) version .* is too (new|old)|requires api version`), errors.ErrUnsupported,
		"the engine and its client are of versions that do not fit", "update the older one, or leave out the option that it does not know",
	},
	{lazyregexp.New(`unknown (shorthand )?flag|flag provided but not defined`), errors.ErrUnsupported, "the engine's client does not know one of the options", "update it, or leave that option out"},
	{
		lazyregexp.New(`discard(ed|ing)|not supported and ignored|kernel does not support|cgroup.* not (mounted|available)|controller .* not available`), errors.ErrUnsupported,
		"the engine cannot limit memory, processors or processes here", "set memory to unlimited, pids to -1 or no cpus",
	},
	{
		lazyregexp.New(`minimum memory limit|range of cpus is from|unable to set memory limit|memory limit .*too (low|small)|memoryswap limit|cpu cfs quota|: value out of range`), nil,
		"the engine refuses a limit", "choose another value for memory, cpus or pids",
	},
	{lazyregexp.New(`unknown capability`), errors.ErrUnsupported, "the engine knows no such capability", "correct dropCapabilities"},
	{lazyregexp.New(`invalid (argument|value|mount|option|container path|spec)|must be an absolute path|unsupported pull policy|invalid --security-opt`), nil, "the engine refuses an option", checkOption},
	{lazyregexp.New(`unable to resolve docker endpoint|unable to parse docker host`), nil, "the engine's client has no configuration that it can use", "correct the context or the host"},
	{lazyregexp.New(`x509: |tls: |server gave http response to https client`), nil, "the other side's TLS certificate cannot be verified", "trust its certificate, or correct the address"},
	{lazyregexp.New(`no space left on device|quota exceeded`), workspace.ErrNoSpace, "the engine has no space left", "make room where it keeps its data"},

	// What may be otherwise the next time.
	{lazyregexp.New(`\bssh: `), workspace.ErrUnavailable, "ssh does not reach the host", "see that it runs, and correct its name"},
	{
		lazyregexp.New(`is the docker daemon running|cannot connect to (the docker daemon|podman)|unable to connect to podman|containerd socket|rootless containerd not running|error during connect`), workspace.ErrUnavailable,
		"the engine does not answer", "start the engine, or correct the host or the context",
	},
	{lazyregexp.New(`the connection to the server|unable to connect to the server|error dialing backend`), workspace.ErrUnavailable, "the cluster does not answer", "see that it runs, or correct the context"},
	{lazyregexp.New(`is paused`), workspace.ErrUnavailable, "the container is paused", "unpause it"},
	{
		lazyregexp.New(`is not running|is restarting|container state improper|container not found|pod does not exist|no running task|task .* not found|cannot exec in a |executing setns process|init-p: |waiting for the condition|containercreating`), workspace.ErrUnavailable,
		"the container is not running", "start it",
	},
	{
		lazyregexp.New(`dial tcp|i/o timeout|deadline exceeded|tls handshake timeout|connection (refused|reset)|no such host|network is unreachable|temporary failure|toomanyrequests|too many requests|rate limit|unexpected eof|internal server error|service unavailable`), workspace.ErrUnavailable,
		"the engine, or the registry of the image, cannot be reached", "see that the network works, and that the image is there",
	},
	{lazyregexp.New(`permission denied|operation not permitted`), fs.ErrPermission, "the engine, or the way to it, denies permission", "give this user, or the engine, the right"},
}
