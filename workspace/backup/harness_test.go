package backup_test

import (
	"testing"

	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// openBucket returns a bucket of a server in memory.
func openBucket(t testing.TB) workspace.FileSystem {
	t.Helper()
	server := s3test.New(t, nil)
	client := s3.New(s3.Options{
		BaseEndpoint: aws.String(server.URL), Region: server.Region, HTTPClient: server.Client(), UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(server.AccessKeyID, server.SecretAccessKey, ""),
	})
	fsys, err := objectstore.New(client, &objectstore.Options{Bucket: "workspace", Compat: &objectstore.Compat{PathStyle: true, ConditionalCopy: true, ConditionalDelete: true}})
	if err != nil {
		t.Fatal(err)
	}
	return fsys
}
