// Package objectstore holds a workspace in a bucket of an S3 store: AWS,
// Cloudflare R2, MinIO, Ceph, and others with the same interface. Any number of
// processes can share it.
//
//	fsys, err := objectstore.Open(ctx, &objectstore.Options{Bucket: "agents", Prefix: "team-a"})
//	ws := workspace.New("lake", fsys, nil)
//
// # How files are kept
//
// The file "a/b" is the object with the key Prefix + "a/b", and its content is
// the object's. A directory exists if an object lies below it, or if it has a
// marker: an empty object whose key ends in a slash, as other tools make them.
// Mkdir creates a marker, and Rm and Move one of the directory that they take
// something from; it is not an entry of any listing.
//
// A control character (U+0001 to U+001F) in a name is "%" and two upper-case
// hexadecimal digits in the key, because stores refuse it or cannot list it. A
// "%" in a name stays as it is unless it would read as such an escape; then it
// is "%25". U+FFFE and U+FFFF, which XML cannot spell, are U+FFFD, U+10FFFF and
// an "E" or "F"; a name with the first two of these has a "0" after them in its
// key.
//
// # Keys that other programs made
//
// A key that is not that of a valid name (an empty, "." or ".." element, an
// element of more than 255 bytes, a control character that is not escaped) is
// not seen and cannot be named. The directory that it lies in exists, has no
// such entry, and is not empty for Rm; a recursive Rm of the directory removes
// it. A marker may have content, which is ignored.
//
// A key "a" beside keys that begin with "a/" is a file and the directory of the
// others at once: Stat and Ls of its parent show the file, everything below is
// found by Walk, by Grep and by a Glob that begins with "a/" or "**" and can be
// used by its name, and Rm removes the file alone.
//
// # Guarantees between processes
//
// Conditions of a write are conditions of the request (If-Match and
// If-None-Match), so they hold against everyone. Names are not: a store knows
// no directories, so two processes that make, within the time that FolderTTL
// names, a file and a directory of the same name get both.
//
// Rm of a file and a write to it at the same moment may happen in either order.
package objectstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/answer"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/bucket"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/client"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/contentcache"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/dircache"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/listing"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/object"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// FS is a workspace in a bucket. Versions are ETags, and a watch is polled. It has
// no symlinks and runs no commands. An error that a person can do something about has
// a method Remedy() string, which says what. It is safe for concurrent use. The zero
// FS is not valid; use [Open] or [New].
type FS struct {
	*provider.FS
	tree *tree // its store
}

// tree is the store of an FS: files and directories over the objects of a bucket.
type tree struct {
	prefix object.Prefix // of every key
	client *s3.Client
	limits *client.Timeouts
	bucket *bucket.Bucket
	opts   Options
	compat Compat
	rules  []rule // for new objects

	dirCache       *dircache.Cache
	contentCache   *contentcache.Cache[byte]
	summaries      *contentcache.Cache[uint64] // sets of trigrams, of binary files empty ones; nil if there is no index
	pageBoundaries listing.PageBoundaries
	watches        watches

	maxHeld int         // how many entries a walk holds back without asking
	closed  atomic.Bool // what only this provider has must know it, too
}

var (
	_ fallback.Capable = (*tree)(nil)
	_ provider.Store   = (*tree)(nil)
	_ scan.Searcher    = (*tree)(nil)
	_ provider.Watcher = (*tree)(nil)
	_ provider.Opener  = (*tree)(nil)
	_ provider.Creator = (*tree)(nil)
	_ provider.Mover   = (*tree)(nil)
	_ provider.Copier  = (*tree)(nil)
	_ provider.Walker  = (*tree)(nil)
)

// Open returns the workspace that opts describes. It sends no request unless
// opts.Probe is set, so that a missing bucket or wrong credentials are the
// error of the first call.
//
// # Errors
//
// An [*OptionError] for each of the options that are not valid, joined; an error of
// another type if the AWS configuration cannot be loaded; and with opts.Probe those
// of a write.
func Open(ctx context.Context, opts *Options) (*FS, error) {
	o := optionsOf(opts)
	if err := o.Check(); err != nil {
		return nil, err
	}
	c, err := newClient(ctx, o)
	if err != nil {
		return nil, err
	}
	f, err := newFS(c, o)
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

// newClient returns the client that o describes.
func newClient(ctx context.Context, o Options) (*s3.Client, error) {
	roots, err := client.Roots(o.CAFile)
	if err != nil {
		return nil, wrong("CAFile", "%w", err)
	}
	point, _ := accessPointOf(o.Bucket)
	return client.New(ctx, client.Config{
		Region: o.Region, Profile: o.Profile, MaxAttempts: o.MaxAttempts, Anonymous: o.Anonymous,
		Roots: roots, Proxy: o.Proxy, Adapt: o.adapt,
		Role: client.Role{
			ARN: o.AssumeRole.ARN, ExternalID: o.AssumeRole.ExternalID,
			Region: point.Region, Timeouts: o.withDefaults().timeouts(),
		},
	})
}

// timeouts returns the bounds of the waits for the store.
func (o Options) timeouts() *client.Timeouts {
	return &client.Timeouts{Response: o.ResponseTimeout, Idle: o.IdleTimeout}
}

// New returns the workspace in opts.Bucket, below opts.Prefix, through client,
// which must be neither nil nor changed afterwards. It sends no request. The answers that
// client gets are checked and its requests have the timeouts of opts, beside
// those of its own.
//
// # Errors
//
// [io/fs.ErrInvalid] for options that are not valid, or that describe a client
// (Region, Endpoint, PathStyle, Profile, MaxAttempts, Anonymous, AssumeRole,
// CAFile, Proxy) or ask for a probe, which Open makes. With [SSEC], also for a
// client whose HTTPClient is neither an [*net/http.Client] nor a BuildableClient of
// the SDK: it might follow redirects.
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

// optionsOf returns a copy of the options, the zero ones for nil.
func optionsOf(opts *Options) Options {
	if opts == nil {
		return Options{}
	}
	return *opts
}

// newFS returns a file system over a client. The client is copied, so its owner may
// change it afterwards, and the copy checks every answer.
func newFS(c *s3.Client, o Options) (*FS, error) {
	o = o.withDefaults()
	if err := o.Encryption.checkClient(c.Options()); err != nil {
		return nil, err
	}
	limits := o.timeouts()
	compat := o.compatFor(aws.ToString(c.Options().BaseEndpoint))
	adapted := s3.New(unshared(c.Options()), answer.Check, o.headers().Apply, limits.Apply)
	_, isAccessPoint := accessPointOf(o.Bucket)
	t := &tree{
		prefix: object.PrefixOf(o.Prefix),
		client: adapted, limits: limits, opts: o, compat: compat,
		rules: compileRules(o.NewObjects),
		bucket: bucket.New(adapted, o.Bucket, bucket.Options{
			Unconditional: compat.Unconditional, UnconditionalUpload: compat.UnconditionalUpload, VerifyETags: compat.VerifyETags,
			ConditionalCopy: compat.ConditionalCopy, ConditionalDelete: compat.ConditionalDelete,
			Opaque: o.Encryption.hidesSums(), AccessPoint: isAccessPoint,
			Workers: o.Workers, DescriptionTTL: o.FolderTTL,
		}),
		dirCache: dircache.New(o.FolderTTL), contentCache: contentcache.New[byte](o.CacheSize),
		maxHeld: maxHeld,
	}
	if o.Index != nil {
		t.summaries = contentcache.New[uint64](o.Index.MaxMemory)
	}
	t.opts.Encryption.CustomerKey = nil // what prints t must not show it
	return &FS{tree: t, FS: provider.New(t, provider.Facts{CheckName: t.checkName})}, nil
}

// headers returns what the client says with its requests.
func (o Options) headers() client.Headers {
	h := client.Headers{
		RequesterPays: o.RequesterPays, BucketOwner: o.ExpectedBucketOwner,
		KMSKey: o.Encryption.KMSKey, BucketKey: o.Encryption.BucketKey, CustomerKey: o.Encryption.CustomerKey,
	}
	switch o.Encryption.Type {
	case SSES3:
		h.Encryption = "AES256"
	case SSEKMS:
		h.Encryption = "aws:kms"
	}
	return h
}

// hidesSums reports whether ETags are not MD5 sums of contents.
func (e Encryption) hidesSums() bool { return e.Type == SSEKMS || e.Type == SSEC }

// unshared returns o without what a client made with it would change for all
// other clients made with it: the SDK sets the client of the provider of
// credentials for directory buckets, which this package does not support.
func unshared(o s3.Options) s3.Options {
	o.ExpressCredentials = nil
	return o
}

// Capabilities implements [fallback.Capable].
func (t *tree) Capabilities() workspace.Capabilities { return t.compat.capabilities() }

// Close implements [io.Closer]. It waits for the uploads of canceled writes to be aborted, at
// most 5 seconds.
func (t *tree) Close() error {
	t.closed.Store(true)
	t.bucket.Close()
	return nil
}

// checkName refuses a name that is not valid, or that no key can hold. A store would
// say so, too, but not in its answer to HEAD, which has no words.
func (t *tree) checkName(name string) error {
	if err := ops.CheckName(name); err != nil {
		return err
	}
	if size := len(t.prefix.Key(name)); size > object.MaxKey {
		return provider.Errorf(fs.ErrInvalid, "it has %d bytes in a key, which has at most %d", size, object.MaxKey)
	}
	return nil
}

// begin is what the methods that only this provider has begin with.
func (f *FS) begin(ctx context.Context, op, name string) error {
	if err := ops.Check(ctx, op, name); err != nil {
		return err
	}
	if f.tree.closed.Load() {
		return ops.Error(op, name, fs.ErrClosed, nil)
	}
	if err := f.tree.checkName(name); err != nil {
		return ops.Error(op, name, provider.Classify(err), nil)
	}
	return nil
}

// Region returns the region of the bucket, as the options, the environment or
// the profile have said.
func (f *FS) Region() string { return f.tree.client.Options().Region }

// Endpoint returns the URL of the store, as the options, the environment or the
// profile have said, without credentials. It is empty if none has, which means AWS.
func (f *FS) Endpoint() string {
	endpoint, err := url.Parse(aws.ToString(f.tree.client.Options().BaseEndpoint))
	if err != nil {
		return ""
	}
	endpoint.User = nil
	return endpoint.String()
}

// Server returns what the store calls itself, such as "AmazonS3" or "MinIO", by
// one HEAD of the bucket. It is empty if the store says nothing.
//
// # Errors
//
// Those of Stat, if the bucket cannot be asked.
func (f *FS) Server(ctx context.Context) (string, error) {
	if err := f.begin(ctx, ops.Stat, "."); err != nil {
		return "", err
	}
	name, err := f.tree.bucket.Server(ctx)
	if err != nil {
		return "", ops.Error(ops.Stat, ".", provider.Classify(err), nil)
	}
	return name, nil
}

// opPresign is the operation in the errors of [FS.PresignGet].
const opPresign = "presign"

// The shortest and the longest time for which a presigned URL may hold
// (https://docs.aws.amazon.com/AmazonS3/latest/userguide/ShareObjectPreSignedURL.html).
const (
	minPresign = time.Second
	maxPresign = 7 * 24 * time.Hour
)

// PresignGet returns a URL with which anyone can GET the file name for as long
// as ttl, from a second to seven days, in whole seconds, or until the
// credentials expire, if that is earlier. It sends no request to the store, so
// the file need not exist; name is not "." and is otherwise checked as the one of a
// read is. No policy in front of f is asked.
//
// # Errors
//
// [io/fs.ErrInvalid] for a ttl out of bounds; [errors.ErrUnsupported] if f sends
// no credentials, and if its files are encrypted with a key of the caller's, which
// whoever has the URL would need; and those of a read that sends no request.
func (f *FS) PresignGet(ctx context.Context, name string, ttl time.Duration) (string, error) {
	if err := f.begin(ctx, opPresign, name); err != nil {
		return "", err
	}
	switch {
	case name == ".":
		return "", ops.Error(opPresign, name, workspace.ErrIsDir, nil)
	case ttl < minPresign || ttl > maxPresign:
		return "", ops.Error(opPresign, name, fs.ErrInvalid, fmt.Errorf("the URL cannot hold for %v: choose a time from 1s to 168h", ttl))
	case f.tree.client.Options().Credentials == nil:
		return "", ops.Error(opPresign, name, errors.ErrUnsupported, errors.New("there are no credentials to sign a URL with"))
	case f.tree.opts.Encryption.Type == SSEC:
		return "", ops.Error(opPresign, name, errors.ErrUnsupported, errors.New("whoever has the URL would need the key of the encryption"))
	}
	signed, err := f.tree.bucket.PresignGet(ctx, f.tree.prefix.Key(name), ttl.Truncate(time.Second))
	if err != nil {
		return "", ops.Error(opPresign, name, provider.Classify(err), nil)
	}
	return signed, nil
}
