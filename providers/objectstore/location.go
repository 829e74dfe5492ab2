package objectstore

import (
	"net/url"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Region returns the region of the bucket, as the options, the environment or
// the profile have said.
func (f *FS) Region() string { return f.client.Options().Region }

// Endpoint returns the URL of the store, as the options, the environment or the
// profile have said, without credentials. It is empty for AWS.
func (f *FS) Endpoint() string {
	endpoint, err := url.Parse(aws.ToString(f.client.Options().BaseEndpoint))
	if err != nil {
		return ""
	}
	endpoint.User = nil
	return endpoint.String()
}
