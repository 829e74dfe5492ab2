package container

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
)

// The labels of the containers that are created here.
const (
	// label is on all of them.
	label = "io.github.workspacekit=workspace"
	// ownerLabel says which process has created it.
	ownerLabel = "io.github.workspacekit.owner"
	// creationLabel has a text that no other creation of a container has.
	creationLabel = "io.github.workspacekit.creation"
	// keepLabel is on those that are to be kept, with a digest of their options.
	keepLabel = "io.github.workspacekit.keep"
)

// Leftover is a container that was created here and that nobody uses any more.
type Leftover struct {
	// ID is the number of the container.
	ID string
	// Name is its name.
	Name string
	// Image is what it was created of.
	Image string
	// Created is when that was.
	Created time.Time

	opts *Options
}

// Leftovers returns the containers that [Open] has created, as this user on this
// computer, and whose process has ended without closing them. Usually these end
// by themselves: one is left if a process ends while it creates it, or if the
// engine ends. Containers that are to be kept are not among them. Of opts, only
// Engine and Timeout count.
//
// # Errors
//
// Those of [About].
func Leftovers(ctx context.Context, opts *Options) ([]Leftover, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	ids, err := o.runEngine(ctx, "ps", "--all", "--quiet", "--no-trunc", "--filter=label="+label)
	if err != nil {
		return nil, ops.Error(ops.Open, ".", visible(err), nil)
	}
	var left []Leftover
	for id := range strings.FieldsSeq(ids) {
		c, err := o.inspect(ctx, id)
		if isNoContainer(err) { // it was removed meanwhile
			continue
		}
		if err != nil {
			return nil, ops.Error(ops.Open, ".", visible(err), nil)
		}
		if c.isLeft(thisProcess(), time.Now()) {
			left = append(left, Leftover{ID: c.ID, Name: strings.TrimPrefix(c.Name, "/"), Image: c.Image, Created: c.Created, opts: &o})
		}
	}
	return left, nil
}

// Remove removes the container. It is no error if that does not exist any more.
//
// # Errors
//
// Those of [About].
func (l Leftover) Remove(ctx context.Context) error {
	if _, err := l.opts.runEngine(ctx, "rm", "--force", "--volumes", l.ID); err != nil && !isNoContainer(err) {
		return ops.Error(ops.Open, ".", visible(err), nil)
	}
	return nil
}

// inspected is what an engine says of a container.
type inspected struct {
	ID, Name, Image string
	Created         time.Time
	Running         bool
	Labels          map[string]string
}

// inspection is what the engine's client is asked for, which all clients have.
const inspection = `{"ID":{{json .ID}},"Name":{{json .Name}},"Image":{{json .Config.Image}},"Created":{{json .Created}},` +
	`"Running":{{json .State.Running}},"Labels":{{json .Config.Labels}}}`

// inspect asks the engine about a container.
func (o *Options) inspect(ctx context.Context, name string) (inspected, error) {
	var c inspected
	said, err := o.runEngine(ctx, "container", "inspect", "--format", inspection, name)
	if err == nil && json.Unmarshal([]byte(said), &c) != nil {
		err = errors.New("the engine's client says of a container what cannot be read")
	}
	return c, err
}

// newborn is how long a container may be before it runs.
const newborn = 10 * time.Minute

// isLeft reports whether nobody uses the container any more, as the process self
// can judge it at the time now.
func (c *inspected) isLeft(self process, now time.Time) bool {
	owner, known := parseProcess(c.Labels[ownerLabel])
	if _, kept := c.Labels[keepLabel]; kept || !known || owner.user != self.user {
		return false
	}
	switch {
	case owner.boot != self.boot: // no process outlives that
		return true
	case owner.space != self.space: // its number means nothing here
		return !c.Running && now.Sub(c.Created) > newborn
	}
	return !owner.lives()
}

// process is a process as a label names it.
type process struct {
	user   string // a digest of the user and the computer
	boot   string // a digest of the time since which the computer runs
	space  string // the namespace of the number, where there are such
	number int
	start  string // when it began, where that can be told
}

// thisProcess returns the process that this is.
func thisProcess() process {
	host, _ := os.Hostname() // without one, computers look alike
	machine, _ := os.ReadFile("/etc/machine-id")
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, _ := os.Readlink("/proc/self/ns/pid")
	return process{
		user:   digest(host, string(machine), strconv.Itoa(os.Getuid())),
		boot:   digest(string(boot)),
		space:  digest(space),
		number: os.Getpid(),
		start:  startOf(os.Getpid()),
	}
}

// String returns the process as the value of a label, which shows nothing of the
// user or the computer.
func (p process) String() string {
	return strings.Join([]string{p.user, p.boot, p.space, strconv.Itoa(p.number), cmp.Or(p.start, "0")}, ".")
}

func parseProcess(text string) (process, bool) {
	parts := strings.Split(text, ".")
	if len(parts) != 5 {
		return process{}, false
	}
	number, err := strconv.Atoi(parts[3])
	return process{user: parts[0], boot: parts[1], space: parts[2], number: number, start: parts[4]}, err == nil && number > 0
}

// lives reports whether the process has not ended. Its number belongs to this
// computer, but another process may have it by now.
func (p process) lives() bool {
	if p.start != "0" {
		return startOf(p.number) == p.start
	}
	found, err := os.FindProcess(p.number)
	if err != nil || runtime.GOOS == "windows" { // which finds only those that live
		return err == nil
	}
	err = found.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, fs.ErrPermission)
}

// startOf returns when a process began, as Linux counts; empty if there is none,
// or no such count.
func startOf(number int) string {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(number) + "/stat")
	if err != nil {
		return ""
	}
	const after = 19 // words after the name, in which there may be anything
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) <= after {
		return ""
	}
	return fields[after]
}

// digest returns a short digest of texts.
func digest(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// labels returns the flags that label a new container.
func (o *Options) labels(creation string) []string {
	labels := []string{
		"--label=" + label, "--label=" + ownerLabel + "=" + thisProcess().String(), "--label=" + creationLabel + "=" + creation,
	}
	if o.Create.Keep {
		labels = append(labels, "--label="+keepLabel+"="+o.keepDigest())
	}
	return labels
}

// keepDigest returns a digest of the options for a new container.
func (o *Options) keepDigest() string { return digest(append(o.createFlags(), o.Image)...) }
