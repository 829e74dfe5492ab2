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
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/kind"
)

// settings are the options of a bucket, as a file has them.
type settings struct {
	Bucket      string         `json:"bucket" jsonschema:"The bucket, which must exist, or the alias or ARN of an access point."`
	Prefix      string         `json:"prefix,omitempty" jsonschema:"What the keys of the workspace begin with. The whole bucket if it is left out."`
	Region      string         `json:"region,omitempty" jsonschema:"The region of the bucket. What the environment or the profile says if it is left out."`
	Endpoint    string         `json:"endpoint,omitempty" jsonschema:"The URL of the store. AWS if it is left out or empty, and neither environment nor profile name one."`
	Profile     string         `json:"profile,omitempty" jsonschema:"A profile of the shared AWS configuration."`
	Anonymous   bool           `json:"anonymous,omitempty" jsonschema:"Sends requests without credentials, which public buckets answer."`
	AssumeRole  *roleSettings  `json:"assumeRole,omitempty" jsonschema:"The role whose credentials are used; the others need only be allowed to assume it."`
	CAFile      string         `json:"caFile,omitempty" jsonschema:"A file of PEM certificates that are trusted beside those of the system, from the folder of the file."`
	Proxy       string         `json:"proxy,omitempty" jsonschema:"The URL of the proxy through which requests go, without credentials. What the environment says (HTTPS_PROXY) if it is left out."`
	PathStyle   *bool          `json:"pathStyle,omitempty" jsonschema:"Puts the bucket into the path of the URL and not into the name of the host. What suits the endpoint if it is left out."`
	Probe       bool           `json:"probe,omitempty" jsonschema:"Finds out by some requests, when it is opened, whether the store honours conditions."`
	Compat      compatSettings `json:"compat,omitzero" jsonschema:"What the store can do, where that differs from what its endpoint suggests."`
	MaxAttempts int            `json:"maxAttempts,omitempty" jsonschema:"How often a request is sent before its failure is reported. What the environment says if it is left out, else 3."`

	ExpectedBucketOwner string              `json:"expectedBucketOwner,omitempty" jsonschema:"The account that must own the bucket, on AWS a number of 12 digits. Any if it is left out."`
	RequesterPays       bool                `json:"requesterPays,omitempty" jsonschema:"Agrees to pay for the requests to a bucket whose owner does not."`
	Encryption          *encryptionSettings `json:"encryption,omitempty" jsonschema:"How the store encrypts what is written. As the bucket says if it is left out."`
	NewObjects          []objectRule        `json:"newObjects,omitempty" jsonschema:"Rules for the objects of new files. All that match a file apply; the later ones take precedence."`

	PartSizeMb      int64         `json:"partSizeMb,omitempty" jsonschema:"The size of the parts in which a long file is written, in MiB, which are held in memory a few at a time. 8 if it is left out."`
	CacheSizeMb     int64         `json:"cacheSizeMb,omitempty" jsonschema:"How much of the searched files is kept in memory, in MiB. 64 if it is left out; a negative number means nothing."`
	Workers         int           `json:"workers,omitempty" jsonschema:"How many files a search downloads, or a move of a directory works on, at a time. 16 if it is left out."`
	FolderTTL       time.Duration `json:"folderTTL,omitempty" jsonschema:"How long a directory that has been seen is taken to exist. 5s if it is left out; a negative time means that every write looks."`
	ResponseTimeout time.Duration `json:"responseTimeout,omitempty" jsonschema:"How long a request waits for its answer to begin. 1m if it is left out; a negative time means for ever."`
	IdleTimeout     time.Duration `json:"idleTimeout,omitempty" jsonschema:"How long an answer that has begun may stand still. 30s if it is left out; a negative time means for ever."`
	PollInterval    time.Duration `json:"pollInterval,omitempty" jsonschema:"The time between two listings of a watch. 10s if it is left out."`
}

// roleSettings are a role of AWS.
type roleSettings struct {
	ARN        string `json:"arn" jsonschema:"The ARN of the role."`
	ExternalID string `json:"externalID,omitempty" jsonschema:"What the owner of the role asks of those who assume it."`
}

// encryptionSettings say how a store encrypts.
type encryptionSettings struct {
	Type        string `json:"type" jsonschema:"Whose keys are used: sse-s3 (the store's), sse-kms (of a key management service) or sse-c (your own)."`
	KMSKey      string `json:"kmsKey,omitempty" jsonschema:"The id, alias or ARN of the key for sse-kms. The account's key for S3 if it is left out."`
	BucketKey   bool   `json:"bucketKey,omitempty" jsonschema:"Asks KMS for a key of the bucket, and not for one of each object."`
	KeyVariable string `json:"keyVariable,omitempty" jsonschema:"The variable of the environment that has the key for sse-c: 32 bytes in base64."`
}

// objectRule is what a store keeps beside the content of some new files.
type objectRule struct {
	Glob         string            `json:"glob" jsonschema:"The files: their name if the glob has no slash, else their path."`
	StorageClass string            `json:"storageClass,omitempty" jsonschema:"The storage class, such as STANDARD_IA."`
	CacheControl string            `json:"cacheControl,omitempty" jsonschema:"The header Cache-Control, such as max-age=60."`
	Metadata     map[string]string `json:"metadata,omitempty" jsonschema:"User metadata."`
}

// compatSettings is what the store can do, where its endpoint suggests something
// else.
type compatSettings struct {
	RequiredChecksumsOnly *bool `json:"requiredChecksumsOnly,omitempty" jsonschema:"Sends no checksums that older stores refuse."`
	Unconditional         *bool `json:"unconditional,omitempty" jsonschema:"The store ignores the conditions of writes."`
	UnconditionalUpload   *bool `json:"unconditionalUpload,omitempty" jsonschema:"The store ignores the conditions of multipart uploads."`
	VerifyETags           *bool `json:"verifyETags,omitempty" jsonschema:"Compares contents with their ETags, and reads again those that differ."`
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
		Scheme:   Scheme,
		ParseURL: parseSettings,
		Ref:      refKind,
		About:    about,
	}
}

func openKind(ctx context.Context, in kind.Input) (workspace.FileSystem, error) {
	var o settings
	if err := in.Decode(&o); err != nil {
		return nil, err
	}
	opts := o.options(in)
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

func checkKind(in kind.Input) error {
	var o settings
	if err := in.Decode(&o); err != nil {
		return err
	}
	opts := o.options(in)
	var errs []error
	if o.Encryption != nil {
		errs = append(errs, o.Encryption.check())
		if o.Encryption.KeyVariable != "" || opts.Encryption.Type == SSEC {
			opts.Encryption.CustomerKey = make([]byte, customerKeySize) // in the place of the one in the environment
		}
	}
	if most := int64(math.MaxInt64 >> 20); o.PartSizeMb > most || o.PartSizeMb < -most || o.CacheSizeMb > most || o.CacheSizeMb < -most {
		return kind.KeyError("partSizeMb", errors.New("it, or cacheSizeMb, is out of bounds: both are in MiB"))
	}
	return errors.Join(append(errs, keyErrors(opts.Check()))...)
}

var variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

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
		ResponseTimeout: o.ResponseTimeout, IdleTimeout: o.IdleTimeout,
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
