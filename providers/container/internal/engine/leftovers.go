package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/internal/process"
)

// The labels of the containers that are created here.
const (
	// label is on all of them.
	label = "io.github.workspacekit=workspace"
	// ownerLabel says which process has created it.
	ownerLabel = "io.github.workspacekit.owner"
	// creationLabel has a text that no other creation of a container has.
	creationLabel = "io.github.workspacekit.creation"
	// nameLabel has the container's name. An image that is made of a container has its
	// labels, and so has every container of that image.
	nameLabel = "io.github.workspacekit.name"
	// keepLabel has a digest of the options of a container that is kept, and is empty for others:
	// an image can have one.
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
		if found.isLeft(process.This(), time.Now()) {
			left = append(left, Leftover{ID: found.ID, Name: found.name(), Image: found.Image, Created: found.Created})
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
func (c *inspected) isLeft(self process.Process, now time.Time) bool {
	owner, known := process.Parse(c.Labels[ownerLabel])
	if c.Labels[keepLabel] != "" || !known || owner.User != self.User || !c.isLabeled() {
		return false
	}
	if ended, known := owner.Ended(self); known {
		return ended
	}
	return !c.Running && now.Sub(c.Created) > newborn
}

// isLabeled reports whether the labels are the container's own, and not its image's.
func (c *inspected) isLabeled() bool { return c.Labels[nameLabel] == c.name() }

// OwnerLabel returns the label of the containers that this process creates.
func OwnerLabel() string { return ownerLabel + "=" + process.This().String() }

// labels returns the flags that label a new container.
func (s *Spec) labels(name, creation string) []string {
	kept := ""
	if s.Keep {
		kept = s.digest()
	}
	return []string{
		"--label=" + label, "--label=" + OwnerLabel(), "--label=" + creationLabel + "=" + creation, "--label=" + nameLabel + "=" + name,
		"--label=" + keepLabel + "=" + kept,
	}
}

// digest returns a digest of the options for a new container, the same whether
// the default of --pull is spelled out or not.
func (s *Spec) digest() string {
	options := slices.DeleteFunc(append(slices.Clone(s.Flags), s.Workdir, s.Image), func(flag string) bool { return flag == "--pull=missing" })
	sum := sha256.Sum256([]byte(strings.Join(options, "\x00")))
	return hex.EncodeToString(sum[:8])
}
