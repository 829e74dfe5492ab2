package objectstore

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/object"
)

// The values that zero [Options] mean.
const (
	DefaultResponseTimeout = time.Minute
	DefaultIdleTimeout     = 30 * time.Second
	DefaultPartSize        = 8 << 20
	DefaultCacheSize       = 64 << 20
	DefaultIndexMemory     = 64 << 20
	DefaultWorkers         = 16
	DefaultFolderTTL       = 5 * time.Second
	DefaultPollInterval    = 10 * time.Second
)

// The least size of a part that is not the last one of its upload, and the
// largest (https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html).
const (
	minPartSize = 5 << 20
	maxPartSize = 5 << 30
)

// Options say where the files are, and how to reach them.
type Options struct {
	// Bucket is the bucket, or the alias or ARN of an access point of one. It
	// is required, and must exist.
	Bucket string
	// Prefix is what the keys of the workspace begin with, a name as
	// [provider.ValidName] has it; a slash follows it in the keys, and may
	// stand at its end. At least one byte of the 1,024 of a key must be left.
	// Empty means the whole bucket.
	Prefix string

	// Region is the region of the bucket. Empty means that of a Bucket which is an
	// ARN, else what the environment or the profile says, else "us-east-1" (for R2
	// "auto").
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
	// reported. The rest of an answer that breaks off is asked for up to three
	// times in a row, whatever MaxAttempts is. Zero means what the
	// environment or the profile says, else 3.
	MaxAttempts int
	// Anonymous sends requests without credentials, which public buckets
	// answer.
	Anonymous bool
	// AssumeRole is the role whose credentials are used. The credentials that
	// the other options stand for need only be allowed to assume it. The zero
	// Role means none.
	AssumeRole Role
	// CAFile is a file of PEM certificates that are trusted beside those of the
	// system. Empty means none but those that AWS_CA_BUNDLE names.
	CAFile string
	// Proxy is the URL of the proxy through which requests go: http, https or
	// socks5, without credentials. Empty means what the environment says
	// (HTTPS_PROXY, HTTP_PROXY, NO_PROXY).
	Proxy string
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
	// Compat says what the store can do. Nil means what [CompatFor] says about
	// the endpoint.
	Compat *Compat
	// AdaptCompat changes what Compat, or else [CompatFor], says before it is
	// used. Nil changes nothing.
	AdaptCompat func(*Compat)
	// Probe lets [Open] find out by a few writes whether the store honours
	// conditions. One that does not has neither ConditionalWrite nor Copy nor
	// Move among its capabilities. False means that it is taken to.
	Probe bool

	// ExpectedBucketOwner is the account that must own the bucket, on AWS a
	// number of 12 digits; the store refuses requests otherwise. Empty means
	// any.
	ExpectedBucketOwner string
	// RequesterPays agrees to pay for the requests to a bucket whose owner does
	// not.
	RequesterPays bool
	// Encryption is how the store encrypts what is written. The zero Encryption
	// leaves it to the bucket.
	Encryption Encryption
	// NewObjects are rules for the objects of new files. All that match a file
	// apply; the later ones take precedence.
	NewObjects []ObjectRule

	// PartSize is the size in bytes of the parts in which a long file is
	// written. A writer holds a few of them in memory. A file can have 10,000
	// parts. Zero means [DefaultPartSize]; the least is 5 MiB and the most 5 GiB.
	PartSize int64
	// CacheSize is how many bytes of files Grep keeps, so as not to download
	// them again while they have the same version. Zero means
	// [DefaultCacheSize], a negative value none.
	CacheSize int64
	// Index lets Grep leave out files that it has downloaded before and in which the
	// pattern cannot match, also those that CacheSize has no room for. Nil, the default,
	// means that it downloads them again. See [IndexOptions].
	Index *IndexOptions
	// Workers is how many files Grep downloads, and a move of a directory moves,
	// at a time. Zero means [DefaultWorkers].
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

// IndexOptions are the settings of the index of a bucket: a summary of each text that a
// Grep has downloaded, an eighth of its size and at most 256 KiB, and the names of the binary
// files. A search lists the bucket, and uses what it knows of a file only while the listing
// shows the ETag of the content that it was made from. So it sees every change that the
// listing shows, whoever made it. Weak ETags prove nothing: such files are always downloaded.
type IndexOptions struct {
	// MaxMemory bounds the memory of the index in bytes, beside CacheSize. What does not fit
	// is downloaded again. Zero means [DefaultIndexMemory].
	MaxMemory int64
}

// withDefaults returns o with what its zero values mean.
func (o Options) withDefaults() Options {
	o.ResponseTimeout = max(orDefault(o.ResponseTimeout, DefaultResponseTimeout), 0)
	o.IdleTimeout = max(orDefault(o.IdleTimeout, DefaultIdleTimeout), 0)
	o.PartSize = orDefault(o.PartSize, DefaultPartSize)
	o.CacheSize = max(orDefault(o.CacheSize, DefaultCacheSize), 0)
	if o.Index != nil {
		o.Index = &IndexOptions{MaxMemory: orDefault(o.Index.MaxMemory, DefaultIndexMemory)}
	}
	o.Workers = orDefault(o.Workers, DefaultWorkers)
	o.FolderTTL = max(orDefault(o.FolderTTL, DefaultFolderTTL), 0)
	o.PollInterval = orDefault(o.PollInterval, DefaultPollInterval)
	return o
}

// orDefault returns value, or standard if value is zero.
func orDefault[T comparable](value, standard T) T {
	var zero T
	if value == zero {
		return standard
	}
	return value
}

// OptionError says what is wrong with one of the [Options]. It is
// [fs.ErrInvalid].
type OptionError struct {
	// Option is the name of the field: "PartSize".
	Option string
	// Err says what is wrong with it, and what was expected. It shows no
	// secret.
	Err error
}

// Error implements error.
func (e *OptionError) Error() string { return "objectstore: " + e.Option + ": " + e.Err.Error() }

// Unwrap makes the error [fs.ErrInvalid].
func (e *OptionError) Unwrap() error { return fs.ErrInvalid }

// wrong returns the error of an option.
func wrong(option, format string, args ...any) error {
	return &OptionError{option, fmt.Errorf(format, args...)}
}

// Check returns all that can be known to be wrong with o without a request and
// without reading a file: an [*OptionError] for each, joined by [errors.Join].
func (o *Options) Check() error {
	return errors.Join(
		o.checkPlace(), o.checkEndpoint(), o.checkOwner(), o.checkAccess(), o.checkProxy(), o.checkLimits(),
		o.AssumeRole.check(), o.Encryption.check(o), checkRules(o.NewObjects))
}

// checkPlace checks the bucket and the prefix. Stores differ in the names that
// they accept, so it refuses only what none can.
func (o *Options) checkPlace() error {
	var bucket, prefix error
	unusual := func(r rune) bool {
		return !strings.ContainsRune("._-:", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	switch {
	case o.Bucket == "":
		bucket = wrong("Bucket", "it is empty: name the bucket")
	case strings.HasPrefix(o.Bucket, "arn:"):
		bucket = o.checkAccessPoint()
	case strings.Contains(o.Bucket, "/"):
		bucket = wrong("Bucket", "%q has a slash: write what follows it as prefix", o.Bucket)
	case strings.IndexFunc(o.Bucket, unusual) >= 0:
		bucket = wrong("Bucket", "%q is not a name of a bucket, which has letters, digits, dots and dashes", o.Bucket)
	case strings.HasSuffix(o.Bucket, "--x-s3"), strings.HasSuffix(o.Bucket, "--xa-s3"):
		bucket = wrong("Bucket", "%q is a directory bucket or an access point of one, which lists no keys in order: name another bucket", o.Bucket)
	}
	name := strings.TrimSuffix(o.Prefix, "/")
	switch size := len(object.PrefixOf(name)); {
	case name != "" && !validPrefix(name):
		prefix = wrong("Prefix", "%q is not a name such as team/files", o.Prefix)
	case size >= object.MaxKey:
		prefix = wrong("Prefix", "it has %d bytes in a key, which has at most %d: use a shorter one", size, object.MaxKey)
	}
	return errors.Join(bucket, prefix)
}

// checkAccessPoint checks a Bucket that is an ARN.
func (o *Options) checkAccessPoint() error {
	point, ok := accessPointOf(o.Bucket)
	switch {
	case !ok:
		return wrong("Bucket", "%q is not the ARN of an access point, such as arn:aws:s3:eu-west-1:123456789012:accesspoint/files", o.Bucket)
	case o.Region != "" && point.Region != "" && o.Region != point.Region:
		return wrong("Region", "the access point is in the region %q: leave the region out", point.Region)
	case o.PathStyle != nil && *o.PathStyle:
		return wrong("PathStyle", "an access point is part of the name of the host: leave it out")
	}
	return nil
}

// validPrefix reports whether a prefix is the name of a directory other than the root.
func validPrefix(prefix string) bool { return prefix != "." && ops.ValidName(prefix) }

// checkEndpoint checks the URL of the store.
func (o *Options) checkEndpoint() error {
	endpoint, err := url.Parse(o.Endpoint)
	switch {
	case o.Endpoint == "":
		return nil
	case err != nil || endpoint.Host == "" || endpoint.Scheme != "http" && endpoint.Scheme != "https":
		return wrong("Endpoint", "it must be a URL such as https://s3.example.org")
	case endpoint.User != nil:
		return wrong("Endpoint", "it has credentials, which belong in the environment or a profile")
	}
	return nil
}

// checkOwner checks that the owner is the number of an account of AWS.
func (o *Options) checkOwner() error {
	if o.ExpectedBucketOwner == "" || accountName().MatchString(o.ExpectedBucketOwner) {
		return nil
	}
	return wrong("ExpectedBucketOwner", "%q is not the number of an account, such as 123456789012", o.ExpectedBucketOwner)
}

// accountName are the accounts of all stores; AWS has numbers.
var accountName = lazyregexp.New(`^[A-Za-z0-9$_.:@-]{1,128}$`)

// checkAccess checks who sends the requests.
func (o *Options) checkAccess() error {
	if !o.Anonymous {
		return nil
	}
	other := ""
	switch {
	case o.Profile != "":
		other = "a profile"
	case o.AssumeRole != Role{}:
		other = "a role"
	case o.RequesterPays:
		other = "requests that the requester pays for"
	case o.Encryption.Type == SSEKMS:
		other = "encryption with keys of KMS"
	default:
		return nil
	}
	return wrong("Anonymous", "it sends no credentials, which %s needs: leave one of the two out", other)
}

// checkProxy checks the URL of the proxy, which is not shown: it may have a
// password.
func (o *Options) checkProxy() error {
	if o.Proxy == "" {
		return nil
	}
	proxy, err := url.Parse(o.Proxy)
	switch {
	case err != nil || proxy.Host == "" || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, proxy.Scheme):
		return wrong("Proxy", "it must be a URL such as http://proxy.example.org:3128, with http, https or socks5")
	case proxy.User != nil:
		return wrong("Proxy", "it has credentials, which belong in the variable HTTPS_PROXY: set that in its place")
	}
	return nil
}

// checkLimits checks the options that are numbers. Those of multipart uploads are the
// limits of S3.
func (o *Options) checkLimits() error {
	var errs []error
	if o.PartSize != 0 && (o.PartSize < minPartSize || o.PartSize > maxPartSize) {
		errs = append(errs, wrong("PartSize", "a part has at least 5 MiB and at most 5 GiB: leave it out for 8 MiB"))
	}
	if o.Index != nil && o.Index.MaxMemory < 0 {
		errs = append(errs, wrong("Index", "MaxMemory cannot be negative: leave it out for the default"))
	}
	for _, limit := range []struct {
		option string
		value  int64
	}{{"Workers", int64(o.Workers)}, {"MaxAttempts", int64(o.MaxAttempts)}, {"PollInterval", int64(o.PollInterval)}} {
		if limit.value < 0 {
			errs = append(errs, wrong(limit.option, "it cannot be negative: leave it out for the default"))
		}
	}
	return errors.Join(errs...)
}

// checkClient returns the error of options that describe a client where there
// is one already.
func (o *Options) checkClient() error {
	if o.Region != "" || o.Endpoint != "" || o.PathStyle != nil || o.Profile != "" || o.MaxAttempts != 0 ||
		o.Anonymous || o.AssumeRole != (Role{}) || o.CAFile != "" || o.Proxy != "" {
		return invalid("Region, Endpoint, PathStyle, Profile, MaxAttempts, Anonymous, AssumeRole, CAFile and Proxy are those of the client")
	}
	if o.Probe {
		return invalid("Probe sends requests, which Open does: set Compat.Unconditional if it is so")
	}
	return nil
}

// invalid returns the error of a URL.
func invalid(text string) error {
	return fmt.Errorf("objectstore: %w: %w", fs.ErrInvalid, errors.New(text))
}
