package objectstore

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
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"
)

// idleConnections is how many connections are kept open for the next request:
// enough for the workers of a search and the requests beside it. The SDK keeps
// 10.
const idleConnections = 64

// errCredentials marks that no credentials could be had.
var errCredentials = errors.New("no credentials")

// newClient returns the client that o describes.
func newClient(ctx context.Context, o Options) (*s3.Client, error) {
	roots, err := o.roots()
	if err != nil {
		return nil, err
	}
	cfg, err := config.LoadDefaultConfig(ctx, o.loaders(roots)...)
	if err != nil {
		return nil, fmt.Errorf("objectstore: the AWS configuration cannot be loaded: %w", plainError(err))
	}
	if !o.Anonymous {
		cfg.Credentials = credentials{cfg.Credentials}
	}
	if o.AssumeRole.ARN != "" {
		cfg.Credentials = o.assumeRole(cfg)
	}
	return s3.NewFromConfig(cfg, o.adapt), nil
}

func (o Options) loaders(roots *x509.CertPool) []func(*config.LoadOptions) error {
	client := awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConns, t.MaxIdleConnsPerHost = idleConnections, idleConnections
		if roots != nil {
			t.TLSClientConfig.RootCAs = roots
		}
		if proxy, err := url.Parse(o.Proxy); err == nil && o.Proxy != "" {
			t.Proxy = through(proxy)
		}
	})
	loaders := []func(*config.LoadOptions) error{config.WithHTTPClient(client), config.WithLogger(logging.Nop{})}
	if o.Region != "" {
		loaders = append(loaders, config.WithRegion(o.Region))
	}
	if o.Profile != "" {
		loaders = append(loaders, config.WithSharedConfigProfile(o.Profile))
	}
	if o.MaxAttempts > 0 {
		loaders = append(loaders, config.WithRetryMaxAttempts(o.MaxAttempts))
	}
	if o.Anonymous {
		loaders = append(loaders, config.WithCredentialsProvider(aws.AnonymousCredentials{}))
	}
	return loaders
}

// maxCAFile is more bytes than the certificates of all authorities take.
const maxCAFile = 4 << 20

// roots returns the certificates of the system and of the CAFile, nil if there
// is none.
func (o Options) roots() (*x509.CertPool, error) {
	if o.CAFile == "" {
		return nil, nil
	}
	info, err := os.Stat(o.CAFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, wrong("CAFile", "the file does not exist")
	case err != nil:
		return nil, wrong("CAFile", "the file cannot be read")
	case !info.Mode().IsRegular() || info.Size() > maxCAFile:
		return nil, wrong("CAFile", "it is not a file of certificates")
	}
	certificates, err := os.ReadFile(o.CAFile)
	if err != nil {
		return nil, wrong("CAFile", "the file cannot be read")
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(certificates) {
		return nil, wrong("CAFile", "the file has no certificate in the PEM format")
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

// adapt applies o to the client's own options, which know by now what the
// environment and the profile say.
func (o Options) adapt(c *s3.Options) {
	if o.Endpoint != "" {
		c.BaseEndpoint = aws.String(o.Endpoint)
	}
	endpoint := aws.ToString(c.BaseEndpoint)
	compat := o.compatFor(endpoint)
	c.UsePathStyle = compat.PathStyle
	if o.PathStyle != nil {
		c.UsePathStyle = *o.PathStyle
	}
	if point, ok := accessPointOf(o.Bucket); ok {
		c.UsePathStyle, c.UseARNRegion = false, true
		c.Region = cmp.Or(point.Region, c.Region)
	}
	if compat.RequiredChecksumsOnly {
		c.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		c.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	}
	switch {
	case c.Region != "":
	case isR2(endpoint):
		c.Region = "auto"
	default:
		c.Region = "us-east-1"
	}
}

func (o Options) compatFor(endpoint string) Compat {
	compat := CompatFor(endpoint)
	if o.Compat != nil {
		compat = *o.Compat
	}
	if o.AdaptCompat != nil {
		o.AdaptCompat(&compat)
	}
	return compat
}

// credentials marks the errors of a provider of credentials.
type credentials struct{ aws.CredentialsProvider }

func (c credentials) Retrieve(ctx context.Context) (aws.Credentials, error) {
	found, err := c.CredentialsProvider.Retrieve(ctx)
	if err != nil {
		return found, fmt.Errorf("%w: %w", errCredentials, err)
	}
	return found, nil
}

// plainError explains why the configuration cannot be loaded, without the
// places where it was looked for.
func plainError(err error) error {
	if missing, ok := errors.AsType[config.SharedConfigProfileNotExistError](err); ok {
		return fmt.Errorf("there is no profile %q", missing.Profile)
	}
	return errors.New("check the environment variables and the shared configuration files")
}
