package objectstore

import (
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
)

// accessPointOf returns the parts of bucket if it is the ARN of an access point
// of a bucket.
func accessPointOf(bucket string) (point arn.ARN, ok bool) {
	point, err := arn.Parse(bucket)
	if err != nil || point.Service != "s3" || !isAccount(point.AccountID) {
		return arn.ARN{}, false
	}
	name, ok := strings.CutPrefix(point.Resource, "accesspoint/")
	if !ok {
		name, ok = strings.CutPrefix(point.Resource, "accesspoint:")
	}
	word := func(r rune) bool { return r != '.' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') }
	return point, ok && name != "" && strings.IndexFunc(name, word) < 0
}

// checkAccessPoint checks a Bucket that is an ARN.
func (o *Options) checkAccessPoint() error {
	point, ok := accessPointOf(o.Bucket)
	switch {
	case !ok:
		return wrong("Bucket", "%q is not the ARN of an access point, such as arn:aws:s3:eu-west-1:123456789012:accesspoint/files", o.Bucket)
	case o.Region != "" && point.Region != "" && o.Region != point.Region:
		return wrong("Region", "the access point is in the region %q: leave the region out", point.Region)
	case o.PathStyle != nil && *o.PathStyle:
		return wrong("PathStyle", "an access point is part of the name of the host: leave it out")
	}
	return nil
}

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
