package objectstore

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/workspacekit/workspacekit/workspace"
)

// FS is a workspace in a bucket. It supports everything the contract has, but
// for symlinks, which a bucket cannot have: versions are ETags, and a watch is
// polled. It is safe for concurrent use. The zero FS is not valid; use [Open]
// or [New].
type FS struct {
	client *s3.Client
	limits *timeouts
	bucket *string
	prefix string // of every key; empty, or ends in a slash
	opts   Options
	compat Compat
	caps   workspace.Capabilities
	rules  []rule // for new objects

	folders      *folders
	descriptions *descriptions
	bodies       *bodies
	watches      *watches
	cuts         *cuts

	sums     atomic.Bool // an ETag was the MD5 sum of its content
	opaque   atomic.Bool // the ETags of the store are not MD5 sums of the content
	copyPart int64       // the size of the parts of a long copy
	maxHeld  int         // how many entries a walk holds back without asking
}

var (
	_ workspace.FileSystem      = (*FS)(nil)
	_ workspace.Capable         = (*FS)(nil)
	_ workspace.VersionedReader = (*FS)(nil)
	_ workspace.Opener          = (*FS)(nil)
	_ workspace.Creator         = (*FS)(nil)
	_ workspace.Walker          = (*FS)(nil)
	_ workspace.Mover           = (*FS)(nil)
	_ workspace.Copier          = (*FS)(nil)
)

// Open returns the workspace that opts describes. It sends no request unless
// opts.Probe is set, so that a missing bucket or wrong credentials are the
// error of the first call.
//
// # Errors
//
// An [*OptionError] for each of the options that are not valid, joined, and
// with opts.Probe those of a write.
func Open(ctx context.Context, opts *Options) (*FS, error) {
	o := optionsOf(opts)
	if err := o.Check(); err != nil {
		return nil, err
	}
	client, err := newClient(ctx, o)
	if err != nil {
		return nil, err
	}
	f, err := newFS(client, o)
	if err != nil {
		return nil, err
	}
	if o.Probe {
		if err := f.probe(ctx); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// New returns the workspace in opts.Bucket, below opts.Prefix, through client,
// which must not be changed afterwards. It sends no request. The answers that
// client gets are checked and its requests have the timeouts of opts, beside
// those of its own.
//
// # Errors
//
// [io/fs.ErrInvalid] for options that are not valid, or that describe a client
// (Region, Endpoint, PathStyle, Profile, MaxAttempts, Anonymous, AssumeRole,
// CAFile, Proxy) or ask for a probe, which Open makes.
func New(client *s3.Client, opts *Options) (*FS, error) {
	o := optionsOf(opts)
	if err := o.Check(); err != nil {
		return nil, err
	}
	if err := o.checkClient(); err != nil {
		return nil, err
	}
	return newFS(client, o)
}

func optionsOf(opts *Options) Options {
	if opts == nil {
		return Options{}
	}
	return *opts
}

func newFS(client *s3.Client, o Options) (*FS, error) {
	o = o.withDefaults()
	if err := o.Encryption.checkClient(client.Options()); err != nil {
		return nil, err
	}
	limits := &timeouts{response: o.ResponseTimeout, idle: o.IdleTimeout}
	f := &FS{
		client:  s3.New(unshared(client.Options()), checkAnswers, o.addHeaders, limits.apply),
		limits:  limits,
		bucket:  aws.String(o.Bucket),
		opts:    o,
		compat:  o.compatFor(aws.ToString(client.Options().BaseEndpoint)),
		watches: newWatches(),
		cuts:    newCuts(),

		copyPart: copyPart, maxHeld: maxHeld,
	}
	f.caps = f.compat.capabilities()
	if prefix := strings.TrimSuffix(o.Prefix, "/"); prefix != "" {
		f.prefix = escape(prefix) + "/"
	}
	f.folders = newFolders(f.opts.FolderTTL)
	f.descriptions = newDescriptions(f.opts.FolderTTL)
	f.bodies = newBodies(f.opts.CacheSize)
	f.rules = compileRules(o.NewObjects)
	f.opaque.Store(o.Encryption.hidesSums())
	f.opts.Encryption.CustomerKey = nil // what prints f must not show it
	return f, nil
}

// unshared returns o without what a client made with it would change for all
// other clients made with it: the SDK sets the client of the provider of
// credentials for directory buckets, which this package does not support.
func unshared(o s3.Options) s3.Options {
	o.ExpressCredentials = nil
	return o
}

// Capabilities implements [workspace.Capable].
func (f *FS) Capabilities() workspace.Capabilities { return f.caps }
