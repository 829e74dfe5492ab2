package container

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
	"github.com/workspacekit/workspacekit/providers/container/internal/command"
)

// Problem is one thing that is wrong with [Options].
type Problem struct {
	// Option is its name, such as "Create.Mounts[0].Target", and empty if the
	// problem is about several.
	Option string
	// Text says what is wrong, and what to do about it.
	Text string
}

// Error implements the error interface.
func (p *Problem) Error() string {
	if p.Option == "" {
		return p.Text
	}
	return p.Option + ": " + p.Text
}

// Problems returns all that is wrong with the options and can be found without an
// engine.
func (o *Options) Problems() []*Problem {
	p := &problems{}
	ways := 0
	for _, set := range []bool{o.Container != "", o.Image != "", o.Executor != nil} {
		if set {
			ways++
		}
	}
	if ways != 1 {
		p.add("", "exactly one of Container, Image and Executor must be set")
	}
	for option, name := range map[string]string{"Container": o.Container, "Image": o.Image} {
		switch {
		case strings.HasPrefix(name, "-"):
			p.add(option, "%q would be taken for an option: use a name that does not begin with a dash", name)
		case strings.ContainsFunc(name, unicode.IsSpace): // what else is a name depends on the engine
			p.add(option, "%q has white space: correct it", name)
		}
	}
	if k, ok := o.Executor.(*kubectl); ok && !podName().MatchString(k.pod.Name) {
		p.add("Executor", "%q is not the name of a pod", k.pod.Name)
	}
	p.dir("Root", o.Root)
	p.notNegative("Shells", o.Shells < 0)
	if o.Executor != nil && (o.User != "" || len(o.Engine) > 0) {
		p.add("", "User and Engine mean nothing to an Executor: leave them out")
	}
	if o.Image != "" {
		o.Create.check(p)
	} else if !reflect.ValueOf(o.Create).IsZero() {
		p.add("Create", "it means nothing without Image: leave it out")
	}
	slices.SortStableFunc(p.found, func(a, b *Problem) int { return cmp.Compare(a.Option, b.Option) })
	return p.found
}

// problems collects what is wrong.
type problems struct{ found []*Problem }

func (p *problems) add(option, format string, args ...any) {
	p.found = append(p.found, &Problem{option, fmt.Sprintf(format, args...)})
}

func (p *problems) notNegative(option string, negative bool) {
	if negative {
		p.add(option, "it cannot be negative")
	}
}

// dir tests the path of a directory in a container, which may be empty.
func (p *problems) dir(option, dir string) {
	switch {
	case dir != "" && !path.IsAbs(dir):
		p.add(option, "%q is not absolute: name a path in the container, such as /workspace", dir)
	case strings.ContainsRune(dir, 0):
		p.add(option, "it has a NUL byte: remove it")
	}
}

var (
	containerName = lazyregexp.New(`^[a-zA-Z0-9][a-zA-Z0-9_.-]*$`)
	memorySize    = lazyregexp.New(`(?i)^([1-9][0-9]*(\.[0-9]+)?|0\.[0-9]*[1-9][0-9]*)([kmgtp]?i?b?)$`)
	variableName  = lazyregexp.New(`^[a-zA-Z_][a-zA-Z0-9_]*$`)
	capability    = lazyregexp.New(`(?i)^[a-z]+(_[a-z]+)*$`)
	platformName  = lazyregexp.New(`^[a-z0-9]+/[a-z0-9_]+(/[a-z0-9.]+)?$`)
	pullPolicy    = lazyregexp.New(`^(missing|always|never)$`)

	// Names in Kubernetes. A pod may have that of a type before it, as in deploy/web.
	podName   = lazyregexp.New(`^([a-zA-Z0-9][a-zA-Z0-9.-]*/)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)
	labelName = lazyregexp.New(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)
)

// check adds what is wrong with the settings of a new container.
func (c *CreateOptions) check(p *problems) {
	p.dir("Create.Workdir", c.Workdir)
	p.notNegative("Create.CPUs", c.CPUs < 0)
	if c.PIDs > 0 && c.PIDs < minPIDs {
		p.add("Create.PIDs", "%d are too few: a search needs %d at least", c.PIDs, minPIDs)
	}
	memory := c.Memory
	if memory == Unlimited {
		memory = ""
	}
	for _, text := range []struct {
		option, value string
		wanted        func() *regexp.Regexp
		remedy        string
	}{
		{"Create.Name", c.Name, containerName, "a name of a container: use letters, digits, and in between dots, dashes and underscores"},
		{"Create.Memory", memory, memorySize, `an amount of memory: use one such as 512m or 2g, or "unlimited"`},
		{"Create.Pull", c.Pull, pullPolicy, "a time to pull an image: use missing, always or never"},
		{"Create.Platform", c.Platform, platformName, "a platform: use one such as linux/arm64"},
	} {
		if text.value != "" && !text.wanted().MatchString(text.value) {
			p.add(text.option, "%q is not %s", text.value, text.remedy)
		}
	}
	for i, name := range c.DropCapabilities {
		if !capability().MatchString(name) {
			p.add(fmt.Sprintf("Create.DropCapabilities[%d]", i), "%q is not a capability: use a name such as NET_RAW, or ALL", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		switch {
		case !variableName().MatchString(name):
			p.add("Create.Env", "%q is not a name of a variable: use letters, digits and underscores, and no digit at the beginning", name)
		case name == command.MarkVariable:
			p.add("Create.Env", "the variable %s is the provider's own: remove it", name)
		case strings.ContainsRune(c.Env[name], 0):
			p.add("Create.Env", "the value of %s has a NUL byte: remove it", name)
		}
	}
	c.checkMounts(p)
}

// checkMounts adds what is wrong with what is mounted.
func (c *CreateOptions) checkMounts(p *problems) {
	seen := map[string]bool{}
	target := func(option, dir string) {
		clean := path.Clean(dir)
		switch {
		case !path.IsAbs(dir):
			p.add(option, "%q is not absolute: name a path in the container, such as /data", dir)
		case slices.Contains([]string{"/", "/proc", "/sys", "/dev"}, clean):
			p.add(option, "nothing can be mounted at %s: name a directory such as /data", clean)
		case strings.ContainsAny(dir, notMounted):
			p.add(option, "%q has a comma, a quotation mark or a line break, which engines do not take: choose another path", dir)
		case seen[clean]:
			p.add(option, "%s is there twice: mount it once", clean)
		}
		seen[clean] = true
	}
	for i, m := range c.Mounts {
		option := fmt.Sprintf("Create.Mounts[%d]", i)
		switch {
		case !path.IsAbs(m.Source) && !filepath.IsAbs(m.Source):
			p.add(option+".Source", "%q is not absolute: name a folder of the computer that the engine runs on", m.Source)
		case strings.ContainsAny(m.Source, notMounted):
			p.add(option+".Source", "it has a comma, a quotation mark or a line break, which engines do not take: choose another folder, or rename it")
		}
		target(option+".Target", m.Target)
	}
	for i, dir := range c.Tmpfs {
		option := fmt.Sprintf("Create.Tmpfs[%d]", i)
		if strings.Contains(dir, ":") {
			p.add(option, "%q has a colon, which begins options for engines: choose another path", dir)
			continue
		}
		target(option, dir)
	}
}

// notMounted are the characters that the clients of engines do not take in a path
// to be mounted.
const notMounted = ",\"\n\r\x00"
