package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// symptom is where an error showed.
type symptom struct {
	name    string // of the workspace
	kind    string
	probe   string
	timeout time.Duration
}

// diagnose returns what an error says, and what to do about it.
func diagnose(err error, s symptom) (detail, remedy string) {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("no answer in %s", s.timeout),
			"Try a longer --timeout: an engine may be loading an image, or a store be far away."
	}
	detail = words(err, s)
	if said, own, found := ownRemedy(err, s, detail); found {
		return said, own
	}
	return detail, s.remedy(err)
}

// words returns the text of err on one line, with its place if it has one in a
// file.
func words(err error, s symptom) string {
	var inFile *config.Error
	if !errors.As(err, &inFile) {
		return oneLine(plain(err))
	}
	p := inFile.Problems[0]
	text := oneLine(strings.TrimPrefix(p.Text, fmt.Sprintf("the workspace %q cannot be opened: ", s.name)))
	if p.Line == 0 {
		return text
	}
	return fmt.Sprintf("%s:%d:%d: %s", filepath.Base(inFile.File), p.Line, p.Column, text)
}

// How much is shown of a text that is long, in bytes: programs say first where
// they are, and last what matters.
const (
	maxHead = 150
	maxTail = 250
)

// oneLine returns text on one line, without what is not to be shown.
func oneLine(text string) string {
	text = withoutEnvironment(strings.Join(strings.Fields(text), " "))
	if len(text) <= maxHead+maxTail {
		return text
	}
	return strings.ToValidUTF8(text[:maxHead], "") + " ... " + strings.ToValidUTF8(text[len(text)-maxTail:], "")
}

// The lengths from which on the value of a variable is hidden: of one whose name
// sounds like a secret, and of any other, as a short value is part of words.
const (
	minSecret = 4
	minHidden = 8
)

// soundsSecret matches the names of variables that hold secrets.
var soundsSecret = regexp.MustCompile(`(?i)key|secret|token|passw|credential|auth`)

// withoutEnvironment returns text with the values of variables replaced by
// their names: a provider may repeat what its options say, and these may come
// from the environment. Where the current folder is everybody knows.
func withoutEnvironment(text string) string {
	variables := os.Environ()
	// A value may be part of another one.
	slices.SortFunc(variables, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(valueOf(b)), len(valueOf(a))), cmp.Compare(a, b))
	})
	for _, variable := range variables {
		name, value, _ := strings.Cut(variable, "=")
		hidden := len(value) >= minHidden || len(value) >= minSecret && soundsSecret.MatchString(name)
		if hidden && name != "PWD" && name != "OLDPWD" {
			text = strings.ReplaceAll(text, value, "${"+name+"}")
		}
	}
	return text
}

func valueOf(variable string) string {
	_, value, _ := strings.Cut(variable, "=")
	return value
}

// ownRemedy parts what a provider says from what it says to do about that.
func ownRemedy(err error, s symptom, text string) (detail, remedy string, found bool) {
	var inFile *config.Error
	if errors.As(err, &inFile) { // whose text has more colons
		return "", "", false
	}
	var remedied interface{ Remedy() string }
	switch {
	case errors.Is(err, exec.ErrNotFound): // which is said for each kind
	case errors.As(err, &remedied):
		return withoutKind(err, text), sentence(remedied.Remedy()), true
	case s.kind == nameStore:
		text = withoutKind(err, text)
		// "the bucket does not exist: make it, or correct the name (NoSuchBucket)"
		code := ""
		if open := strings.LastIndex(text, " ("); open > 0 && strings.HasSuffix(text, ")") {
			text, code = text[:open], text[open:]
		}
		detail, remedy, found = strings.Cut(text, ": ")
		detail += code
	case s.kind == nameLocal && s.probe == probeWatch:
		// "the operating system has no watches left; raise the limit"
		detail, remedy, found = strings.Cut(withoutKind(err, text), "; ")
	}
	return detail, sentence(remedy), found
}

// withoutKind returns text without the kind of error that it begins with.
func withoutKind(err error, text string) string {
	for _, kind := range []error{fs.ErrPermission, fs.ErrInvalid, workspace.ErrUnavailable, errors.ErrUnsupported} {
		if rest, ok := strings.CutPrefix(text, kind.Error()+": "); ok && errors.Is(err, kind) {
			return rest
		}
	}
	return text
}

// sentence makes a sentence of words.
func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(text[size:], ".") + "."
}

// remedy returns what to do about err.
func (s symptom) remedy(err error) string {
	if errors.Is(err, config.ErrUntrusted) {
		return "Read the file, then run \"workspace trust\", or name the file with --config."
	}
	if errors.Is(err, exec.ErrNotFound) {
		if s.kind == nameContainer {
			return "Install it, see that PATH leads to it, or name another client with the key engine."
		}
		return "Install it, and see that PATH leads to it."
	}
	code := tools.CodeOf(err)
	for _, r := range remedies() {
		if (r.kind == "" || r.kind == s.kind) && (r.probe == "" || r.probe == s.probe) && r.code == code {
			return r.text
		}
	}
	return "Correct that in the file or where the files are, and try again."
}

// cure says what to do about one kind of error of one kind of provider in one
// probe. What is empty is any.
type cure struct {
	kind, probe string
	code        tools.Code
	text        string
}

// remedies lists special cases before general ones.
func remedies() []cure {
	return []cure{
		{nameLocal, probeOpen, tools.CodeNotExist, "Make the folder, or correct root."},
		{nameLocal, probeOpen, tools.CodeNotDir, "Name a folder with root: this is a file."},
		{nameLocal, probeOpen, tools.CodePermission, "Give this user the right to enter the folder, or choose another one with root."},
		{nameLocal, probeRead, tools.CodePermission, "Give this user the right to read the folder and its files."},
		{nameLocal, probeWrite, tools.CodePermission, "Give this user the right to write into the folder, or set readOnly under fs."},
		{nameLocal, probeWatch, tools.CodeUnavailable, "Raise the limits of fs.inotify, or choose a smaller folder with root."},
		{nameMemory, probeOpen, tools.CodeNotExist, "Make the folder of seed, or correct it."},
		{nameMemory, probeOpen, tools.CodePermission, "Give this user the right to read the folder of seed."},
		{nameMemory, probeOpen, tools.CodeTooLarge, "Choose a smaller folder with seed."},

		{nameContainer, "", tools.CodeNotExist, "Make the directory in the container, or correct workspaceDir."},
		{nameContainer, "", tools.CodeUnsupported, "Choose an image that has a shell and the usual programs, such as debian or alpine, and see what requires asks for."},
		{nameContainer, "", tools.CodeUnavailable, "See that the engine runs (docker info), that this user may use it, and that the container (docker ps) or the image (docker images) exists."},
		{nameContainer, "", tools.CodePermission, "Choose a user with the key user who may do this."},
		{nameKubernetes, "", tools.CodeNotExist, "Make the directory in the container, or correct workspaceDir."},
		{nameKubernetes, "", tools.CodeUnsupported, "Choose a container that has a shell and the usual programs, and see what requires asks for."},
		{nameKubernetes, "", tools.CodeUnavailable, "See that the cluster answers and the pod runs (kubectl get pods), and correct pod, container, namespace or context."},
		{nameStore, "", tools.CodeUnavailable, "See that the store runs at the endpoint, and try again."},
		{nameStore, "", tools.CodePermission, "Correct the credentials, or grant them the right to list, read, write and delete."},

		{"", probeOpen, tools.CodeUnsupported, "Leave out of requires what is missing, or choose another provider."},
		{"", probeWrite, tools.CodePermission, "Get the right to write, or set readOnly under fs."},
		{"", "", tools.CodePermission, "Get the right to do this, or choose another place."},
		{"", "", tools.CodeNotExist, "Make it, or correct its name in the file."},
		{"", "", tools.CodeUnavailable, "See that it can be reached, and try again."},
		{"", "", tools.CodeUnsupported, "Choose a provider that can do this."},
	}
}
