package workspacekit

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// storeOptions are the options of a bucket.
type storeOptions struct {
	Bucket          string        `json:"bucket" jsonschema:"The bucket, which must exist."`
	Prefix          string        `json:"prefix,omitempty" jsonschema:"What the keys of the workspace begin with. The whole bucket if it is left out."`
	Region          string        `json:"region,omitempty" jsonschema:"The region of the bucket. What the environment or the profile says if it is left out."`
	Endpoint        string        `json:"endpoint,omitempty" jsonschema:"The URL of the store. AWS if it is left out or empty, and neither environment nor profile name one."`
	Profile         string        `json:"profile,omitempty" jsonschema:"A profile of the shared AWS configuration."`
	PathStyle       *bool         `json:"pathStyle,omitempty" jsonschema:"Puts the bucket into the path of the URL and not into the name of the host. What suits the endpoint if it is left out."`
	Probe           bool          `json:"probe,omitempty" jsonschema:"Finds out by some requests, when it is opened, whether the store honours conditions."`
	ResponseTimeout time.Duration `json:"responseTimeout,omitempty" jsonschema:"How long a request waits for its answer to begin. 1m if it is left out; a negative time means for ever."`
	IdleTimeout     time.Duration `json:"idleTimeout,omitempty" jsonschema:"How long an answer that has begun may stand still. 30s if it is left out; a negative time means for ever."`
	PollInterval    time.Duration `json:"pollInterval,omitempty" jsonschema:"The time between two listings of a watch. 10s if it is left out."`
}

func storeKind() config.Kind {
	return config.Kind{
		Summary:  "A bucket of S3, or of a store that speaks its protocol.",
		Options:  storeOptions{},
		Open:     openStore,
		Check:    checkStore,
		Grants:   grantsOfStore,
		Scheme:   objectstore.Scheme,
		ParseURL: parseStore,
		Ref:      refStore,
		About:    aboutStore,
	}
}

func openStore(ctx context.Context, in config.Input) (workspace.FileSystem, error) {
	var o storeOptions
	if err := in.Decode(&o); err != nil {
		return nil, err
	}
	return objectstore.Open(ctx, o.options())
}

func checkStore(in config.Input) error {
	var o storeOptions
	if err := in.Decode(&o); err != nil {
		return err
	}
	var errs []error
	if o.Prefix != "" && !workspace.ValidName(strings.TrimSuffix(o.Prefix, "/")) {
		errs = append(errs, config.KeyError("prefix", fmt.Errorf("%q is not a name such as team/files", o.Prefix)))
	}
	return errors.Join(append(errs,
		checkBucket(o.Bucket), checkNotNegative("pollInterval", o.PollInterval), checkEndpoint(o.Endpoint))...)
}

// checkBucket returns what is wrong with the name of a bucket. Stores differ in
// the names that they take, so it refuses only what none can.
func checkBucket(bucket string) error {
	unusual := func(r rune) bool {
		return !strings.ContainsRune("._-:", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	switch {
	case bucket == "":
		return config.KeyError("bucket", errors.New("it is empty: name the bucket"))
	case strings.Contains(bucket, "/") && !strings.HasPrefix(bucket, "arn:"):
		return config.KeyError("bucket", fmt.Errorf("%q has a slash: write what follows it as prefix", bucket))
	case strings.IndexFunc(strings.ReplaceAll(bucket, "/", ""), unusual) >= 0:
		return config.KeyError("bucket", fmt.Errorf("%q is not a name of a bucket, which has letters, digits, dots and dashes", bucket))
	}
	return nil
}

func grantsOfStore(in config.Input) ([]string, error) {
	var o storeOptions
	if err := in.Decode(&o); err != nil {
		return nil, err
	}
	grant := fmt.Sprintf("the bucket %q, with your credentials", o.Bucket)
	if o.Endpoint != "" {
		grant = fmt.Sprintf("the bucket %q at %s, with your credentials", o.Bucket, o.Endpoint)
	}
	return []string{grant}, nil
}

// checkEndpoint returns what is wrong with the URL of a store.
func checkEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	switch {
	case endpoint == "":
		return nil
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return config.KeyError("endpoint", errors.New("it is to be a URL such as https://s3.example.org"))
	case u.User != nil:
		return config.KeyError("endpoint", errors.New("it has credentials, which belong into the environment or a profile"))
	}
	return nil
}

func parseStore(text string) (any, error) {
	o, err := objectstore.ParseURL(text)
	if err != nil {
		return nil, err
	}
	return storeOptionsOf(*o), nil
}

func (o storeOptions) options() *objectstore.Options {
	return &objectstore.Options{
		Bucket: o.Bucket, Prefix: o.Prefix, Region: o.Region, Endpoint: o.Endpoint, Profile: o.Profile,
		PathStyle: o.PathStyle, Probe: o.Probe, PollInterval: o.PollInterval,
		ResponseTimeout: o.ResponseTimeout, IdleTimeout: o.IdleTimeout,
	}
}

// refStore returns the options of the bucket, with what the environment says
// here and may not say elsewhere.
func refStore(_ context.Context, fsys workspace.FileSystem, in config.Input) (any, error) {
	var o storeOptions
	if err := in.Decode(&o); err != nil {
		return nil, err
	}
	store, ok := workspace.As[*objectstore.FS](fsys)
	if !ok {
		return nil, errors.New("it is no bucket")
	}
	o.Region, o.Endpoint = store.Region(), store.Endpoint()
	return o, nil
}

func storeOptionsOf(o objectstore.Options) storeOptions {
	return storeOptions{
		Bucket: o.Bucket, Prefix: o.Prefix, Region: o.Region, Endpoint: o.Endpoint, Profile: o.Profile,
		PathStyle: o.PathStyle, Probe: o.Probe, PollInterval: o.PollInterval,
		ResponseTimeout: o.ResponseTimeout, IdleTimeout: o.IdleTimeout,
	}
}
