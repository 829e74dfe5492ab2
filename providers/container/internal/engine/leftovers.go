package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The labels of the containers that are created here.
const (
	// label is on all of them.
	label = "io.github.workspacekit=workspace"
	// ownerLabel says which process has created it.
	ownerLabel = "io.github.workspacekit.owner"
	// creationLabel has a text that no other creation of a container has.
	creationLabel = "io.github.workspacekit.creation"
	// keepLabel is on containers that are kept, with a digest of their options.
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
}

// Leftovers returns the containers that this user has created on this computer and
// whose process has ended without removing them.
func (c *Client) Leftovers(ctx context.Context) ([]Leftover, error) {
	ids, err := c.run(ctx, "ps", "--all", "--quiet", "--no-trunc", "--filter=label="+label)
	if err != nil {
		return nil, err
	}
	var left []Leftover
	for id := range strings.FieldsSeq(ids) {
		found, err := c.inspect(ctx, id)
		if isNoContainer(err) { // it was removed meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		if found.isLeft(thisProcess(), time.Now()) {
			left = append(left, Leftover{ID: found.ID, Name: strings.TrimPrefix(found.Name, "/"), Image: found.Image, Created: found.Created})
		}
	}
	return left, nil
}

// Remove removes a container with its volumes. It is no error if the container
// does not exist.
func (c *Client) Remove(ctx context.Context, container string) error {
	if _, err := c.run(ctx, "rm", "--force", "--volumes", container); !isNoContainer(err) {
		return err
	}
	return nil
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
	start  string // when it began, if that is known
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

// OwnerLabel returns the label of the containers that this process creates.
func OwnerLabel() string { return ownerLabel + "=" + thisProcess().String() }

// labels returns the flags that label a new container.
func (s *Spec) labels(creation string) []string {
	labels := []string{
		"--label=" + label, "--label=" + OwnerLabel(), "--label=" + creationLabel + "=" + creation,
	}
	if s.Keep {
		labels = append(labels, "--label="+keepLabel+"="+s.digest())
	}
	return labels
}

// digest returns a digest of the options for a new container.
func (s *Spec) digest() string { return digest(append(slices.Clone(s.Flags), s.Image)...) }
