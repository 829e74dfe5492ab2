package objectstore_test

import (
	"testing"

	"github.com/workspacekit/workspacekit/providers/objectstore"
)

// TestCompatFor looks at what is known about endpoints.
func TestCompatFor(t *testing.T) {
	amazon := objectstore.Compat{ConditionalCopy: true, ConditionalDelete: true}
	other := objectstore.Compat{PathStyle: true, RequiredChecksumsOnly: true, VerifyETags: true}
	for endpoint, want := range map[string]objectstore.Compat{
		"":                                         amazon,
		"https://s3.eu-central-1.amazonaws.com":    amazon,
		"https://S3.AMAZONAWS.COM:443/":            amazon,
		"https://s3.cn-north-1.amazonaws.com.cn":   amazon,
		"https://amazonaws.com.example.org":        other,
		"https://account.r2.cloudflarestorage.com": other,
		"http://127.0.0.1:9000":                    other,
		"https://evilamazonaws.com":                other,
		"://":                                      other,
	} {
		if got := objectstore.CompatFor(endpoint); got != want {
			t.Errorf("CompatFor(%q) = %+v, want %+v", endpoint, got, want)
		}
	}
}
