// Package client makes and adapts clients of a store: how they find it, who they
// are for it, what they say with each request and how long they wait.
//
// In go settings and the environment of the process; out comes a client of the
// SDK, which package bucket uses. [New] makes one; [Timeouts] and [Headers] apply
// to any client, also to one that a program hands over.
package client

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/logging"
	"github.com/workspacekit/workspacekit/internal/lazyregexp"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/answer"
)

// Config describes a client. What is empty is what the environment or the
// profile says. Adapt must not be nil.
type Config struct {
	Region      string
	Profile     string
	MaxAttempts int
	Anonymous   bool           // no credentials are sent
	Roots       *x509.CertPool // nil means the system's
	Proxy       string         // a URL that has been checked
	Role        Role
	// Adapt changes the client's own options, which know by then what the
	// environment and the profile say.
	Adapt func(*s3.Options)
}

// idleConnections is how many connections are kept open for the next request:
// enough for the workers of a search and the requests beside it. The SDK keeps
// 10.
const idleConnections = 64

// New returns the client that c describes. It reads the environment and the
// files of the profile. The error shows no path of them.
func New(ctx context.Context, c Config) (*s3.Client, error) {
	cfg, err := config.LoadDefaultConfig(ctx, c.loaders()...)
	if err != nil {
		return nil, fmt.Errorf("objectstore: the AWS configuration cannot be loaded: %w", plainError(err))
	}
	if cfg.RetryMaxAttempts < 0 { // to the SDK, that means for ever
		return nil, fmt.Errorf("objectstore: the AWS configuration cannot be loaded: %w", negativeAttempts())
	}
	if !c.Anonymous {
		cfg.Credentials = credentials{cfg.Credentials}
	}
	if c.Role.ARN != "" {
		cfg.Credentials = c.Role.assume(cfg)
	}
	return s3.NewFromConfig(cfg, c.Adapt), nil
}

// loaders returns the options for what c says. What it does not say is left
// out, so that the environment decides. The SDK's log is turned off: it would
// go to standard error.
func (c Config) loaders() []func(*config.LoadOptions) error {
	client := awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConns, t.MaxIdleConnsPerHost = idleConnections, idleConnections
		if c.Roots != nil {
			t.TLSClientConfig.RootCAs = c.Roots
		}
		if proxy, err := url.Parse(c.Proxy); err == nil && c.Proxy != "" {
			t.Proxy = through(proxy)
		}
	})
	loaders := []func(*config.LoadOptions) error{config.WithHTTPClient(client), config.WithLogger(logging.Nop{})}
	if c.Region != "" {
		loaders = append(loaders, config.WithRegion(c.Region))
	}
	if c.Profile != "" {
		loaders = append(loaders, config.WithSharedConfigProfile(c.Profile))
	}
	if c.MaxAttempts > 0 {
		loaders = append(loaders, config.WithRetryMaxAttempts(c.MaxAttempts))
	}
	if c.Anonymous {
		loaders = append(loaders, config.WithCredentialsProvider(aws.AnonymousCredentials{}))
	}
	return loaders
}

// maxCAFile is more bytes than the certificates of all authorities take. What
// is larger is a mistake, and is not read into memory.
const maxCAFile = 4 << 20

// Roots returns the certificates of the system and of the file, nil if the name
// of that is empty. The error does not show the name. A device or a pipe is
// refused, as a read of it might never end.
func Roots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("the file does not exist")
	case err != nil:
		return nil, errors.New("the file cannot be read")
	case !info.Mode().IsRegular() || info.Size() > maxCAFile:
		return nil, errors.New("it is not a file of certificates")
	}
	certificates, err := os.ReadFile(file)
	if err != nil {
		return nil, errors.New("the file cannot be read")
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(certificates) {
		return nil, errors.New("the file has no certificate in the PEM format")
	}
	return roots, nil
}

// through sends requests through proxy, but those to the services of the machine
// that have its credentials: their addresses mean nothing elsewhere.
func through(proxy *url.URL) func(*http.Request) (*url.URL, error) {
	return func(r *http.Request) (*url.URL, error) {
		if ip := net.ParseIP(r.URL.Hostname()); ip != nil && ip.IsLinkLocalUnicast() {
			return nil, nil
		}
		return proxy, nil
	}
}

// credentials marks the errors of a provider of credentials. Without the mark
// they would be reported as requests that failed.
type credentials struct{ aws.CredentialsProvider }

func (c credentials) Retrieve(ctx context.Context) (aws.Credentials, error) {
	found, err := c.CredentialsProvider.Retrieve(ctx)
	if err != nil {
		return found, fmt.Errorf("%w: %w", answer.ErrCredentials, err)
	}
	return found, nil
}

// variable matches the name of an environment variable of AWS.
var variable = lazyregexp.New(`AWS_[A-Z0-9_]+`)

// plainError explains why the configuration cannot be loaded, without the
// places where it was looked for and what was found there.
func plainError(err error) error {
	if missing, ok := errors.AsType[config.SharedConfigProfileNotExistError](err); ok {
		return fmt.Errorf("there is no profile %q", missing.Profile)
	}
	if _, err := config.NewEnvConfig(); err != nil { // the name of a variable comes first in it, and then its value
		return fmt.Errorf("the variable %s has a wrong value", variable().FindString(err.Error()))
	}
	if _, unread := err.(*fs.PathError); unread { // those of the shared files are wrapped
		return errors.New("the file in the variable AWS_CA_BUNDLE cannot be read")
	}
	return errors.New("check the environment variables and the shared configuration files")
}

// negativeAttempts says who sets a number of attempts that is negative.
func negativeAttempts() error {
	if env, err := config.NewEnvConfig(); err == nil && env.RetryMaxAttempts < 0 {
		return errors.New("the variable AWS_MAX_ATTEMPTS is negative")
	}
	return errors.New("max_attempts of the profile is negative")
}

// Role is a role of AWS, or of a store that has them. The zero Role is none.
//
// Timeouts must not be nil if there is an ARN.
type Role struct {
	ARN        string
	ExternalID string // what the role's owner asks for; empty for nothing
	Region     string // of the service that gives out the credentials, where cfg names none
	Timeouts   *Timeouts
}

// sessionName is what the logs of the store call who has assumed a role.
const sessionName = "workspacekit"

// assume returns the credentials of the role, which are asked for with those of
// cfg, when they are needed, and kept until they expire. A request of the store
// waits for them, so the requests for them have the timeouts of r.
func (r Role) assume(cfg aws.Config) aws.CredentialsProvider {
	client := sts.NewFromConfig(cfg, func(so *sts.Options) {
		so.Region = cmp.Or(so.Region, r.Region, "us-east-1")
		so.HTTPClient = &timedClient{so.HTTPClient, r.Timeouts}
	})
	provider := stscreds.NewAssumeRoleProvider(client, r.ARN, func(ro *stscreds.AssumeRoleOptions) {
		ro.RoleSessionName = sessionName
		if r.ExternalID != "" {
			ro.ExternalID = aws.String(r.ExternalID)
		}
	})
	return roleCredentials{aws.NewCredentialsCache(provider)}
}

// roleCredentials tells the errors of the service that gives out the
// credentials of a role from those of the store.
type roleCredentials struct{ aws.CredentialsProvider }

// Retrieve implements [aws.CredentialsProvider]. A code with a status of 4xx is
// the service's refusal; anything else means that it does not answer.
func (c roleCredentials) Retrieve(ctx context.Context) (aws.Credentials, error) {
	found, err := c.CredentialsProvider.Retrieve(ctx)
	if err == nil || errors.Is(err, answer.ErrCredentials) {
		return found, err
	}
	code := answer.Code(err)
	if answer.Status(err)/100 != 4 || code == "UnknownError" { // which the SDK calls other answers
		code = ""
	}
	return found, &answer.RoleError{Code: code}
}
