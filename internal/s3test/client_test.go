package s3test_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"github.com/workspacekit/workspacekit/internal/s3test"
)

const bucket = "workspace"

// newClient returns Amazon's client for server. It does not try again.
func newClient(server *s3test.Server) *s3.Client {
	return s3.New(s3.Options{
		BaseEndpoint: &server.URL,
		Region:       server.Region,
		HTTPClient:   server.Client(),
		UsePathStyle: true,
		Retryer:      aws.NopRetryer{},
		Credentials:  credentials(server.AccessKeyID, server.SecretAccessKey),
		// Only options that are loaded from a configuration have these set.
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenSupported,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenSupported,
	})
}

func credentials(id, secret string) aws.CredentialsProvider {
	return aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: id, SecretAccessKey: secret}, nil
	})
}

// start returns a server with small parts, and a client for it.
func start(t *testing.T, opts s3test.Options) (*s3test.Server, *s3.Client) {
	t.Helper()
	if opts.MinPartSize == 0 {
		opts.MinPartSize = 4
	}
	server := s3test.New(t, &opts)
	return server, newClient(server)
}

// codeOf returns the code of an error from the client, and what was wrong if
// it is none of S3's.
func codeOf(err error) string {
	var apiError smithy.APIError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &apiError):
		return apiError.ErrorCode()
	}
	return err.Error()
}

// put stores text.
func put(t *testing.T, client *s3.Client, key, text string) {
	t.Helper()
	_, err := client.PutObject(t.Context(), &s3.PutObjectInput{
		Bucket: aws.String(bucket), Key: &key, Body: bytes.NewReader([]byte(text)),
	})
	if err != nil {
		t.Fatalf("PutObject(%q): %v", key, err)
	}
}

// get returns what key holds.
func get(t *testing.T, client *s3.Client, key string) string {
	t.Helper()
	output, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: &key})
	if err != nil {
		t.Fatalf("GetObject(%q): %v", key, err)
	}
	defer output.Body.Close()
	data, err := io.ReadAll(output.Body)
	if err != nil {
		t.Fatalf("GetObject(%q): %v", key, err)
	}
	return string(data)
}
