package main

import (
	"fmt"
	"os"
	"strings"
)

// store is the prefix of a bucket that is measured.
type store struct {
	endpoint, region             string
	accessKeyID, secretAccessKey string
	bucket                       string
	prefix                       string // of every key; ends in a slash
}

// newStore returns the prefix of the bucket that the environment names.
func newStore(prefix string) (*store, error) {
	s := &store{region: os.Getenv("WORKSPACEKIT_S3_REGION"), prefix: prefix}
	if s.region == "" {
		s.region = "us-east-1"
	}
	var missing []string
	for _, variable := range []struct {
		name  string
		value *string
	}{
		{"WORKSPACEKIT_S3_ENDPOINT", &s.endpoint},
		{"WORKSPACEKIT_S3_ACCESS_KEY_ID", &s.accessKeyID},
		{"WORKSPACEKIT_S3_SECRET_ACCESS_KEY", &s.secretAccessKey},
		{"WORKSPACEKIT_S3_BUCKET", &s.bucket},
	} {
		if *variable.value = os.Getenv(variable.name); *variable.value == "" {
			missing = append(missing, variable.name)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf(`there is no S3 server to measure: run eval "$(../../.ci/s3 start)", or set %s`, strings.Join(missing, ", "))
	}
	return s, nil
}

// at returns the same store at another endpoint.
func (s *store) at(endpoint string) *store {
	other := *s
	other.endpoint = endpoint
	return &other
}

func (s *store) key(name string) string { return s.prefix + name }
