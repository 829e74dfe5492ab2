package doctor

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/internal/lazyregexp"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// symptom is where an error showed.
type symptom struct {
	name    string // of the workspace
	kind    string // of the provider
	probe   string // that failed
	file    string // the text of the file, empty without one
	timeout time.Duration
}

// remedy returns what to do about err. It goes from the special to the general: trust, the
// table, the remedy of the code, and advice that is always true.
func (s symptom) remedy(err error) string {
	if errors.Is(err, config.ErrUntrusted) {
		return "Read the file, then run \"workspace trust\", or name the file with --config."
	}
	code := tools.CodeOf(err)
	for _, r := range remedies {
		if (r.kind == "" || r.kind == s.kind) && (r.probe == "" || r.probe == s.probe) && r.code == code {
			return r.text
		}
	}
	if text := code.Remedy(); text != "" {
		return text
	}
	if s.file == "" {
		return "Correct that on the command line or where the files are, and try again."
	}
	return "Correct that in the file or where the files are, and try again."
}

// remedy says what to do about an error with a code, in one probe and of one kind of provider.
// An empty kind or probe means any. Errors of no such kind have the remedy of their code. The
// first remedy in the table that fits is given.
type remedy struct {
	kind, probe string     // of the provider and the probe; empty for any
	code        tools.Code // of the error; empty for any
	text        string
}

// remedies lists special cases before general ones.
var remedies = []remedy{
	{"", probeRun, tools.CodeNotExist, "Install sh where the commands run, or correct PATH."},
	{target.KindLocal, probeRead, tools.CodePermission, "Give this user the right to read the folder and its files."},
	{target.KindLocal, probeWrite, tools.CodePermission, "Give this user the right to write to the folder of the workspace, or set readOnly under fs."},
	{target.KindLocal, probeWatch, tools.CodeUnavailable, "Raise the limits of fs.inotify, or choose a smaller folder with root."},
	{target.KindMemory, probeOpen, tools.CodePermission, "Give this user the right to read the folder of seed."},
	{target.KindMemory, probeOpen, tools.CodeTooLarge, "Choose a smaller folder with seed."},

	{target.KindContainer, "", tools.CodeNotExist, "Create the directory in the container, or correct workspaceDir."},
	{target.KindContainer, "", tools.CodeUnsupported, "Choose an image that has a shell and the usual programs, such as debian or alpine, and see what requires asks for."},
	{target.KindContainer, "", tools.CodeUnavailable, "See that the engine runs (docker info), that this user may use it, and that the container (docker ps) or the image (docker images) exists."},
	{target.KindContainer, "", tools.CodePermission, "Choose a user who may do this with the key user."},
	{target.KindKubernetes, "", tools.CodeNotExist, "Create the directory in the container, or correct workspaceDir."},
	{target.KindKubernetes, "", tools.CodeUnsupported, "Choose a container that has a shell and the usual programs, and see what requires asks for."},
	{target.KindKubernetes, "", tools.CodeUnavailable, "See that the cluster answers and the pod runs (kubectl get pods), and correct pod, container, namespace or context."},
	{target.KindStore, "", tools.CodeUnavailable, "See that the store runs at the endpoint, and try again."},
	{target.KindStore, "", tools.CodePermission, "Correct the credentials, or grant them the right to list, read, write and delete."},

	{"", probeOpen, tools.CodeUnsupported, "Leave out of requires what is missing, or choose another provider."},
	{"", probeWrite, tools.CodePermission, "Get the right to write, or set readOnly under fs."},
}

// How much is shown of a long text, in bytes: the beginning, where programs say
// where they are, and the end, where they say what matters.
const (
	maxHead = 150
	maxTail = 250
)

// oneLine returns text on one line, shortened and without secrets.
// file is the text of the configuration file.
func oneLine(text, file string) string {
	text = withoutEnvironment(strings.Join(strings.Fields(text), " "), file)
	if len(text) <= maxHead+maxTail {
		return text
	}
	return strings.ToValidUTF8(text[:maxHead], "") + " ... " + strings.ToValidUTF8(text[len(text)-maxTail:], "")
}

// The least lengths of values that are hidden: of a variable whose name sounds
// like a secret, and of any other one. Shorter values are parts of words.
const (
	minSecret = 4
	minHidden = 8
)

// soundsSecret matches the names of variables that hold secrets.
var soundsSecret = lazyregexp.New(`(?i)key|secret|token|passw|credential|auth`)

// withoutEnvironment returns text with the values of variables replaced by
// their names, if they sound like secrets or file refers to them: a provider may repeat
// what its options say. Other values are left, as a path may begin with one by chance.
// The current folder is no secret.
func withoutEnvironment(text, file string) string {
	variables := os.Environ()
	// A value may be part of another one.
	slices.SortFunc(variables, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(valueOf(b)), len(valueOf(a))), cmp.Compare(a, b))
	})
	for _, variable := range variables {
		name, value, _ := strings.Cut(variable, "=")
		refers := strings.Contains(file, "${"+name+"}") || strings.Contains(file, "${"+name+":-")
		hidden := len(value) >= minHidden && refers || len(value) >= minSecret && soundsSecret().MatchString(name)
		if hidden && name != "PWD" && name != "OLDPWD" {
			text = strings.ReplaceAll(text, value, "${"+name+"}")
		}
	}
	return text
}

// valueOf returns the value of a NAME=value of the environment.
func valueOf(variable string) string {
	_, value, _ := strings.Cut(variable, "=")
	return value
}
