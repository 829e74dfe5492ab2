package main

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"

	"github.com/workspacekit/workspacekit/providers/objectstore"
)

// clients are the ways to a store that are compared. They share no connections.
type clients struct {
	*store
	ours    *objectstore.FS
	raw     *s3.Client
	gocloud *blob.Bucket
	rclone  remote
	plain   plain

	oursClient *s3.Client    // of ours
	sent       *atomic.Int64 // requests of oursClient
}

// counted counts the requests of a client.
type counted struct {
	s3.HTTPClient
	sent *atomic.Int64
}

func (c counted) Do(request *http.Request) (*http.Response, error) {
	c.sent.Add(1)
	return c.HTTPClient.Do(request)
}

func newClients(ctx context.Context, s *store) (*clients, error) {
	c := &clients{store: s, raw: s.client(), plain: newPlain(s), sent: new(atomic.Int64)}
	c.oursClient = s3.New(s.client().Options(), func(o *s3.Options) { o.HTTPClient = counted{o.HTTPClient, c.sent} })
	var err error
	if c.ours, err = c.newOurs(); err != nil {
		return nil, err
	}
	if c.rclone, err = newRemote(ctx, s); err != nil {
		return nil, err
	}
	c.gocloud, err = s3blob.OpenBucket(ctx, s.client(), s.bucket, nil)
	return c, err
}

// newOurs returns a workspace that has seen nothing yet, with connections that
// are open.
func (c *clients) newOurs() (*objectstore.FS, error) {
	return objectstore.New(c.oursClient, &objectstore.Options{Bucket: c.bucket, Prefix: c.prefix})
}

// idleConnections is how many connections the client that the provider makes
// keeps open.
const idleConnections = 64

// client returns a client with the settings of the one that the provider
// makes.
func (s *store) client() *s3.Client {
	compat := objectstore.CompatFor(s.endpoint)
	options := s3.Options{
		BaseEndpoint: aws.String(s.endpoint),
		Region:       s.region,
		UsePathStyle: compat.PathStyle,
		Credentials:  credentials.NewStaticCredentialsProvider(s.accessKeyID, s.secretAccessKey, ""),
		HTTPClient: awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
			t.MaxIdleConns, t.MaxIdleConnsPerHost = idleConnections, idleConnections
		}),
	}
	if compat.RequiredChecksumsOnly {
		options.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		options.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	}
	return s3.New(options)
}
