package objectstore

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/kind"
)

// settings are the options of a bucket, as a file has them.
type settings struct {
	Bucket      string         `json:"bucket" jsonschema:"The bucket, which must exist, or the alias or ARN of an access point."`
	Prefix      string         `json:"prefix,omitempty" jsonschema:"The directory in the bucket that is the workspace, such as team/files. Default: the whole bucket."`
	Region      string         `json:"region,omitempty" jsonschema:"The region. Default: that of an ARN, or else from the environment or the profile, or else us-east-1 (for R2 auto)."`
	Endpoint    string         `json:"endpoint,omitempty" jsonschema:"The URL of the store. Default: from the environment or the profile, or else AWS."`
	Profile     string         `json:"profile,omitempty" jsonschema:"A profile of the shared AWS configuration, which takes precedence over credentials in variables."`
	Anonymous   bool           `json:"anonymous,omitempty" jsonschema:"Sends requests without credentials, for public buckets."`
	AssumeRole  *roleSettings  `json:"assumeRole,omitempty" jsonschema:"A role to assume."`
	CAFile      string         `json:"caFile,omitempty" jsonschema:"A file of more PEM certificates to trust. A relative path starts at the folder of this file."`
	Proxy       string         `json:"proxy,omitempty" jsonschema:"The URL of the proxy, without credentials. Default: from the environment (HTTPS_PROXY)."`
	PathStyle   *bool          `json:"pathStyle,omitempty" jsonschema:"Puts the bucket into the path of the URL, not into the host name; false has no effect for an IP address, or a bucket with a dot. Default: by the endpoint."`
	Probe       bool           `json:"probe,omitempty" jsonschema:"Finds out on open, by a temporary object, whether the store honours conditions; with readOnly, only whether it can be listed."`
	Compat      compatSettings `json:"compat,omitzero" jsonschema:"What the store can do, if its endpoint suggests something else."`
	MaxAttempts int            `json:"maxAttempts,omitempty" jsonschema:"How often a request is sent before it fails, but in a long outage fewer times, and for the rest of an answer 3 times in a row. Default: from the environment or the profile, or else 3."`

	ExpectedBucketOwner string              `json:"expectedBucketOwner,omitempty" jsonschema:"The account that must own the bucket, on AWS a number of 12 digits. Default: any."`
	RequesterPays       bool                `json:"requesterPays,omitempty" jsonschema:"Agrees to pay for requests if the owner of the bucket does not."`
	Encryption          *encryptionSettings `json:"encryption,omitempty" jsonschema:"How the store encrypts new objects. Default: as the bucket says."`
	NewObjects          []objectRule        `json:"newObjects,omitempty" jsonschema:"Rules for new files, and those replaced without a known version; edits, copies and moves keep what they have. All that match a file apply; later ones take precedence."`

	PartSizeMb      int64         `json:"partSizeMb,omitempty" jsonschema:"The size of the parts of long files, in MiB, at least 5. A few are in memory at a time. Default: 8."`
	CacheSizeMb     int64         `json:"cacheSizeMb,omitempty" jsonschema:"MiB of searched files to keep in memory; a negative number means none. Default: 64."`
	Index           bool          `json:"index,omitempty" jsonschema:"Keeps summaries of searched files in memory, for more files than cacheSizeMb has room for."`
	IndexMemoryMb   int64         `json:"indexMemoryMb,omitempty" jsonschema:"MiB that the index may take. Default: 64."`
	Workers         int           `json:"workers,omitempty" jsonschema:"How many files a search downloads, or a move of a directory moves, at a time. Default: 16."`
	FolderTTL       time.Duration `json:"folderTTL,omitempty" jsonschema:"How long a directory that was seen is assumed to exist; if negative, not at all. Default: 5s."`
	ResponseTimeout time.Duration `json:"responseTimeout,omitempty" jsonschema:"How long a request waits for its response; negative means no limit. Default: 1m."`
	IdleTimeout     time.Duration `json:"idleTimeout,omitempty" jsonschema:"How long a response may pause; negative means no limit. Default: 30s."`
	PollInterval    time.Duration `json:"pollInterval,omitempty" jsonschema:"The time between two listings of a watch. Default: 10s."`
}

// roleSettings are a role of AWS.
type roleSettings struct {
	ARN        string `json:"arn" jsonschema:"The ARN of the role."`
	ExternalID string `json:"externalID,omitempty" jsonschema:"The external ID, if the owner of the role requires one."`
}

// encryptionSettings say how a store encrypts.
type encryptionSettings struct {
	Type        string `json:"type" jsonschema:"sse-s3 (keys of the store), sse-kms (of a key management service) or sse-c (your own)."`
	KMSKey      string `json:"kmsKey,omitempty" jsonschema:"The ID, alias or ARN of the key for sse-kms. Default: the account's key for S3."`
	BucketKey   bool   `json:"bucketKey,omitempty" jsonschema:"Asks KMS for one key of the bucket, not one for each object."`
	KeyVariable string `json:"keyVariable,omitempty" jsonschema:"The environment variable with the key for sse-c: 32 bytes in base64."`
}

// objectRule is what a store keeps beside the content of some new files.
type objectRule struct {
	Glob         string            `json:"glob" jsonschema:"A glob of the names of files, or of their paths if it has a slash."`
	StorageClass string            `json:"storageClass,omitempty" jsonschema:"The storage class, such as STANDARD_IA."`
	CacheControl string            `json:"cacheControl,omitempty" jsonschema:"The header Cache-Control, such as max-age=60."`
	Metadata     map[string]string `json:"metadata,omitempty" jsonschema:"User metadata."`
}

// compatSettings is what the store can do, where its endpoint suggests something
// else.
type compatSettings struct {
	RequiredChecksumsOnly *bool `json:"requiredChecksumsOnly,omitempty" jsonschema:"Leaves out checksums that older stores refuse."`
	Unconditional         *bool `json:"unconditional,omitempty" jsonschema:"The store ignores the conditions of writes."`
	UnconditionalUpload   *bool `json:"unconditionalUpload,omitempty" jsonschema:"The store ignores the conditions of multipart uploads."`
	VerifyETags           *bool `json:"verifyETags,omitempty" jsonschema:"Reads content again if it differs from its ETag."`
	ConditionalCopy       *bool `json:"conditionalCopy,omitempty" jsonschema:"CopyObject honours If-None-Match."`
	ConditionalDelete     *bool `json:"conditionalDelete,omitempty" jsonschema:"DeleteObject honours If-Match."`
}

// adapt changes in c what the file says.
func (s compatSettings) adapt(c *Compat) {
	for target, value := range map[*bool]*bool{
		&c.RequiredChecksumsOnly: s.RequiredChecksumsOnly, &c.Unconditional: s.Unconditional, &c.UnconditionalUpload: s.UnconditionalUpload,
		&c.VerifyETags: s.VerifyETags, &c.ConditionalCopy: s.ConditionalCopy, &c.ConditionalDelete: s.ConditionalDelete,
	} {
		if value != nil {
			*target = *value
		}
	}
}

// Kind describes buckets to package config.
func Kind() kind.Kind {
	return kind.Kind{
		Summary:  "A bucket of S3, or of a store that speaks its protocol.",
		Options:  settings{},
		Open:     openKind,
		Check:    checkKind,
		Grants:   grantsOfKind,
		CanRun:   func(kind.Input) bool { return false },
		Scheme:   scheme,
		ParseURL: parseSettings,
		Ref:      refKind,
		About:    about,
	}
}

// openKind opens a bucket for package config. A key for sse-c comes from the
// environment, so that no file has it.
func openKind(ctx context.Context, in kind.Input) (workspace.FileSystem, error) {
	var o settings
	if err := in.Decode(&o); err != nil {
		return nil, err
	}
	opts := o.options(in)
	opts.Probe = o.Probe && !in.ReadOnly // it writes
	if o.Encryption != nil && o.Encryption.KeyVariable != "" {
		key, err := keyFrom(o.Encryption.KeyVariable)
		if err != nil {
			return nil, kind.KeyError("encryption", err)
		}
		opts.Encryption.CustomerKey = key
	}
	fsys, err := Open(ctx, opts)
	if err != nil {
		return nil, keyErrors(err)
	}
	if o.Probe && in.ReadOnly {
		if _, err := fsys.Stat(ctx, "."); err != nil {
			_ = fsys.Close() // why it is of no use is the error that matters
			return nil, err
		}
	}
	return fsys, nil
}

// keyFrom returns the key in a variable of the environment.
func keyFrom(variable string) (CustomerKey, error) {
	text, ok := os.LookupEnv(variable)
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	switch {
	case !ok || text == "":
		return nil, fmt.Errorf("the variable %s, which has the key, is not set: set it to what \"openssl rand -base64 32\" prints", variable)
	case err != nil || len(key) != customerKeySize:
		return nil, fmt.Errorf("the variable %s must have 32 bytes in base64, as \"openssl rand -base64 32\" prints them", variable)
	}
	return key, nil
}

// checkKind checks the settings without the environment and the network, for "workspace
// validate".
func checkKind(in kind.Input) error {
	var o settings
	if err := in.Decode(&o); err != nil {
		return err
	}
	opts := o.options(in)
	var errs []error
	if err := ops.CheckHostPath(o.CAFile); err != nil && in.File != "" {
		errs = append(errs, kind.KeyError("caFile", err))
	}
	if o.Encryption != nil {
		errs = append(errs, o.Encryption.check())
		if o.Encryption.KeyVariable != "" || opts.Encryption.Type == SSEC {
			opts.Encryption.CustomerKey = make([]byte, customerKeySize) // in the place of the one in the environment
		}
	}
	for _, size := range []struct {
		key   string
		mb    int64
		bytes *int64
	}{{"partSizeMb", o.PartSizeMb, &opts.PartSize}, {"cacheSizeMb", o.CacheSizeMb, &opts.CacheSize}} {
		if *size.bytes>>20 != size.mb {
			errs = append(errs, kind.KeyError(size.key, fmt.Errorf("%d is no size in MiB", size.mb)))
			*size.bytes = 0 // which has overflowed
		}
	}
	switch {
	case o.IndexMemoryMb < 0 || o.IndexMemoryMb > math.MaxInt64>>20:
		errs = append(errs, kind.KeyError("indexMemoryMb", fmt.Errorf("%d is no size in MiB: expected a number such as 64", o.IndexMemoryMb)))
		opts.Index = nil // it is said
	case o.IndexMemoryMb > 0 && !o.Index:
		errs = append(errs, kind.KeyError("indexMemoryMb", errors.New("there is no index: set index to true")))
	}
	return errors.Join(append(errs, keyErrors(opts.Check()))...)
}

// variableName is a name that a variable of the environment can have.
var variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// check checks what only the settings have: where the key comes from.
func (e encryptionSettings) check() error {
	needs := e.Type == string(SSEC)
	switch {
	case needs && e.KeyVariable == "":
		return kind.KeyError("encryption", errors.New("sse-c needs the key keyVariable, which names the variable of the environment that has the key"))
	case e.KeyVariable != "" && !variableName().MatchString(e.KeyVariable):
		return kind.KeyError("encryption", errors.New("keyVariable is not the name of a variable"))
	}
	return nil
}

// keyErrors returns what is wrong with the options of a bucket, err, by the
// keys of the file.
func keyErrors(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var errs []error
		for _, part := range joined.Unwrap() {
			errs = append(errs, keyErrors(part))
		}
		return errors.Join(errs...)
	}
	wrong, ok := err.(*OptionError)
	if !ok {
		return err
	}
	return kind.KeyError(settingOf(wrong.Option), wrong.Err)
}

// settingOf returns the key of an option of package
func settingOf(option string) string {
	switch option {
	case "PartSize", "CacheSize":
		option += "Mb"
	case "CAFile":
		return "caFile"
	}
	return strings.ToLower(option[:1]) + option[1:]
}

// grantsOfKind lists what a file with these settings makes use of, for the question
// whether to trust it.
func grantsOfKind(in kind.Input) ([]string, error) {
	var o settings
	if err := in.Decode(&o); err != nil {
		return nil, err
	}
	place := fmt.Sprintf("the bucket %q", o.Bucket)
	if o.Endpoint != "" {
		place += " at " + o.Endpoint
	}
	who := "with your credentials"
	switch {
	case o.Anonymous:
		who = "without credentials"
	case o.AssumeRole != nil:
		who = "as the role " + o.AssumeRole.ARN + ", which is assumed with your credentials"
	}
	if o.RequesterPays {
		who += ", at your cost"
	}
	grants := []string{place + ", " + who}
	if o.Proxy != "" {
		grants = append(grants, "the proxy "+o.Proxy+", through which the requests go")
	}
	if o.CAFile != "" {
		grants = append(grants, "the certificates in the file "+in.Path(o.CAFile)+", which are trusted")
	}
	if o.Encryption != nil && o.Encryption.KeyVariable != "" {
		grants = append(grants, "the variable "+o.Encryption.KeyVariable+" of the environment, which is sent to the store as a key")
	}
	return grants, nil
}

// parseSettings returns the settings that a URL means.
func parseSettings(text string) (any, error) {
	o, err := ParseURL(text)
	if err != nil {
		return nil, err
	}
	return settingsOf(*o), nil
}

// options returns o without the key of the caller's, which is in the environment.
func (o settings) options(in kind.Input) *Options {
	opts := &Options{
		Bucket: o.Bucket, Prefix: o.Prefix, Region: o.Region, Endpoint: o.Endpoint, Profile: o.Profile,
		Anonymous: o.Anonymous, Proxy: o.Proxy, PathStyle: o.PathStyle, Probe: o.Probe, AdaptCompat: o.Compat.adapt, MaxAttempts: o.MaxAttempts,
		ExpectedBucketOwner: o.ExpectedBucketOwner, RequesterPays: o.RequesterPays,
		PartSize: o.PartSizeMb << 20, CacheSize: o.CacheSizeMb << 20, Workers: o.Workers, FolderTTL: o.FolderTTL,
		PollInterval: o.PollInterval, ResponseTimeout: o.ResponseTimeout, IdleTimeout: o.IdleTimeout,
	}
	if o.Index {
		opts.Index = &IndexOptions{MaxMemory: o.IndexMemoryMb << 20}
	}
	if o.AssumeRole != nil {
		opts.AssumeRole = Role(*o.AssumeRole)
	}
	if o.CAFile != "" {
		opts.CAFile = in.Path(o.CAFile)
	}
	if e := o.Encryption; e != nil {
		opts.Encryption = Encryption{Type: EncryptionType(e.Type), KMSKey: e.KMSKey, BucketKey: e.BucketKey}
	}
	for _, r := range o.NewObjects {
		opts.NewObjects = append(opts.NewObjects, ObjectRule(r))
	}
	return opts
}

// refKind returns the options of the bucket, with what the environment says
// here and may not say elsewhere.
func refKind(_ context.Context, fsys workspace.FileSystem, in kind.Input) (any, error) {
	var o settings
	if err := in.Decode(&o); err != nil {
		return nil, err
	}
	store, ok := workspace.As[*FS](fsys)
	if !ok {
		return nil, errors.New("it is no bucket")
	}
	o.Region, o.Endpoint = store.Region(), store.Endpoint()
	if o.CAFile != "" {
		o.CAFile = in.Path(o.CAFile)
	}
	return o, nil
}

// settingsOf returns the options that a URL stands for.
func settingsOf(o Options) settings {
	return settings{
		Bucket: o.Bucket, Prefix: o.Prefix, Region: o.Region, Endpoint: o.Endpoint, Profile: o.Profile,
		Anonymous: o.Anonymous, RequesterPays: o.RequesterPays, PathStyle: o.PathStyle, Probe: o.Probe,
		Index: o.Index != nil, ResponseTimeout: o.ResponseTimeout, IdleTimeout: o.IdleTimeout,
	}
}

// about says what the store calls itself.
func about(ctx context.Context, fsys workspace.FileSystem, _ kind.Input) (string, error) {
	store, ok := workspace.As[*FS](fsys)
	if !ok {
		return "", errors.New("it is no bucket")
	}
	return store.Server(ctx)
}
