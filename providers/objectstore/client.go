package objectstore

import (
	"context"
	"errors"
	"fmt"
	"net/http"

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
	cfg, err := config.LoadDefaultConfig(ctx, o.loaders()...)
	if err != nil {
		return nil, fmt.Errorf("objectstore: the AWS configuration cannot be loaded: %w", plainError(err))
	}
	cfg.Credentials = credentials{cfg.Credentials}
	return s3.NewFromConfig(cfg, o.adapt), nil
}

func (o Options) loaders() []func(*config.LoadOptions) error {
	client := awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConns, t.MaxIdleConnsPerHost = idleConnections, idleConnections
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
	return loaders
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
	if o.Compat != nil {
		return *o.Compat
	}
	return CompatFor(endpoint)
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
