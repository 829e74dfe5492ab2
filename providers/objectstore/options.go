package objectstore

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/workspace"
)

// The values that zero [Options] mean.
const (
	DefaultResponseTimeout = time.Minute
	DefaultIdleTimeout     = 30 * time.Second
	DefaultPartSize        = 8 << 20
	DefaultCacheSize       = 64 << 20
	DefaultWorkers         = 16
	DefaultFolderTTL       = 5 * time.Second
	DefaultPollInterval    = 10 * time.Second
)

// minPartSize is the least size of a part that is not the last one of its
// upload (https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html).
const minPartSize = 5 << 20

// Options say where the files are, and how to reach them.
type Options struct {
	// Bucket is the bucket. It is required, and must exist.
	Bucket string
	// Prefix is what the keys of the workspace begin with, a name as
	// [workspace.ValidName] has it; a slash follows it in the keys, and may
	// stand at its end. Empty means the whole bucket.
	Prefix string

	// Region is the region of the bucket. Empty means what the environment or
	// the profile says, else "us-east-1" (for R2 "auto").
	Region string
	// Endpoint is the URL of the store. Empty means what the environment
	// (AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL) or the profile says, else AWS.
	Endpoint string
	// PathStyle puts the bucket into the path of the URL and not into the name
	// of the host. Nil means what Compat says.
	PathStyle *bool
	// Profile is a profile of the shared AWS configuration. Empty means the
	// standard order: environment, default profile, web identity, role of the
	// container or machine.
	Profile string
	// MaxAttempts is how often a request is sent before its failure is
	// reported. Zero means what the environment says, else 3.
	MaxAttempts int
	// ResponseTimeout is how long a request waits for its answer to begin, from
	// when the last of it was sent. A request that waits longer is sent again
	// as one whose connection was lost, and fails at last as
	// [workspace.ErrUnavailable]. Zero means [DefaultResponseTimeout], a
	// negative value that only the context ends the wait.
	ResponseTimeout time.Duration
	// IdleTimeout is how long an answer that has begun may stand still before
	// the rest of it is asked for again. Zero means [DefaultIdleTimeout], a
	// negative value that only the context ends the wait.
	IdleTimeout time.Duration
	// Compat says what the store can do. Nil means what [CompatFor] says of
	// the endpoint.
	Compat *Compat
	// Probe lets [Open] find out by a few requests whether the store honours
	// conditions. One that does not has neither ConditionalWrite nor Copy nor
	// Move among its capabilities. False means that it is taken to.
	Probe bool

	// PartSize is the size in bytes of the parts in which a long file is
	// written, and thereby what its writer holds in memory, a few times. A
	// file can have 10,000 parts. Zero means [DefaultPartSize]; the least is 5
	// MiB.
	PartSize int64
	// CacheSize is how many bytes of files Grep keeps, so as not to download
	// them again while they have the same version. Zero means
	// [DefaultCacheSize], a negative value none.
	CacheSize int64
	// Workers is how many files Grep downloads, and a long copy or a move of a
	// directory works on, at a time. Zero means [DefaultWorkers].
	Workers int
	// FolderTTL is how long a directory that has been seen is taken to exist
	// by writes, which then do not look for it, and how long the headers that a
	// read has shown are taken to be those of the version that it read. Zero
	// means [DefaultFolderTTL], a negative value that every write looks.
	FolderTTL time.Duration
	// PollInterval is the time between two listings of a watch whose options
	// name none. Zero means [DefaultPollInterval].
	PollInterval time.Duration
}

// withDefaults returns o with what its zero values mean.
func (o Options) withDefaults() Options {
	o.ResponseTimeout = max(orDefault(o.ResponseTimeout, DefaultResponseTimeout), 0)
	o.IdleTimeout = max(orDefault(o.IdleTimeout, DefaultIdleTimeout), 0)
	o.PartSize = orDefault(o.PartSize, DefaultPartSize)
	o.CacheSize = max(orDefault(o.CacheSize, DefaultCacheSize), 0)
	o.Workers = orDefault(o.Workers, DefaultWorkers)
	o.FolderTTL = max(orDefault(o.FolderTTL, DefaultFolderTTL), 0)
	o.PollInterval = orDefault(o.PollInterval, DefaultPollInterval)
	return o
}

func orDefault[T comparable](value, standard T) T {
	var zero T
	if value == zero {
		return standard
	}
	return value
}

// check returns what is wrong with o.
func (o Options) check() error {
	switch {
	case o.Bucket == "":
		return invalid("Bucket is required")
	case strings.Contains(o.Bucket, "/"):
		return invalid("Bucket is a name without slashes; what follows one belongs into Prefix")
	case o.PartSize != 0 && o.PartSize < minPartSize:
		return invalid(fmt.Sprintf("PartSize is %d bytes, and the least is %d", o.PartSize, minPartSize))
	case o.Workers < 0, o.MaxAttempts < 0, o.PollInterval < 0:
		return invalid("Workers, MaxAttempts and PollInterval must not be negative")
	}
	if prefix := strings.TrimSuffix(o.Prefix, "/"); prefix != "" && !validPrefix(prefix) {
		return invalid(fmt.Sprintf("Prefix %q is not a valid name", o.Prefix))
	}
	if o.Endpoint != "" {
		return checkEndpoint(o.Endpoint)
	}
	return nil
}

func validPrefix(prefix string) bool { return prefix != "." && workspace.ValidName(prefix) }

// checkClient returns the error of options that describe a client where there
// is one already.
func (o Options) checkClient() error {
	if o.Region != "" || o.Endpoint != "" || o.PathStyle != nil || o.Profile != "" || o.MaxAttempts != 0 {
		return invalid("Region, Endpoint, PathStyle, Profile and MaxAttempts are those of the client")
	}
	if o.Probe {
		return invalid("Probe sends requests, which Open does: set Compat.Unconditional if it is so")
	}
	return nil
}

func invalid(text string) error {
	return fmt.Errorf("objectstore: %w: %w", fs.ErrInvalid, errors.New(text))
}
