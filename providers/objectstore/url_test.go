package objectstore_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/providers/objectstore"
)

func TestParseURL(t *testing.T) {
	for text, want := range map[string]objectstore.Options{
		"s3://b":      {Bucket: "b"},
		"s3://b/":     {Bucket: "b"},
		"s3://b/p/q":  {Bucket: "b", Prefix: "p/q"},
		"s3://b/p/q/": {Bucket: "b", Prefix: "p/q/"},
		"s3://b/a%20b?region=eu-west-1&profile=team&probe=true":         {Bucket: "b", Prefix: "a b", Region: "eu-west-1", Profile: "team", Probe: true},
		"s3://b?anonymous=true&requesterPays=false":                     {Bucket: "b", Anonymous: true},
		"s3://b?responseTimeout=2m&idleTimeout=-1s":                     {Bucket: "b", ResponseTimeout: 2 * time.Minute, IdleTimeout: -time.Second},
		"s3://b?endpoint=http%3A%2F%2Flocalhost%3A9000&pathStyle=false": {Bucket: "b", Endpoint: "http://localhost:9000", PathStyle: new(false)},
		"s3://b?endpoint=https://s3.example.org/store&pathStyle=true":   {Bucket: "b", Endpoint: "https://s3.example.org/store", PathStyle: new(true)},
	} {
		got, err := objectstore.ParseURL(text)
		if err != nil {
			t.Errorf("ParseURL(%q) = %v, want nil", text, err)
			continue
		}
		if diff := cmp.Diff(want, *got); diff != "" {
			t.Errorf("ParseURL(%q) differs (-want +got):\n%s", text, diff)
		}
	}
}

func TestParseURLRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "such as s3://bucket/prefix",
		"bucket/prefix":                   "such as s3://bucket/prefix",
		"s3:bucket":                       "Bucket: it is empty",
		"s3:///prefix":                    "Bucket: it is empty",
		"S4://bucket":                     `begins with "s4:"`,
		"s3://key:secret@b":               "credentials do not belong in a URL",
		"s3://b:9000":                     "such as s3://bucket/prefix?endpoint=",
		"s3://b#x":                        "such as s3://bucket/prefix?endpoint=",
		"s3://b/%zz":                      "cannot be read",
		"s3://b?%zz":                      "cannot be read",
		"s3://b/../c":                     `Prefix: "../c" is not a name`,
		"s3://b//c":                       `Prefix: "/c" is not a name`,
		"s3://b?regoin=x":                 `"regoin" is unknown`,
		"s3://b?region=x&region=y":        `"region" is there twice`,
		"s3://b?anonymous=true&profile=x": "Anonymous: it sends no credentials",
		"s3://b?probe=perhaps":            "true or false",
		"s3://b?probe=1":                  "true or false",
		"s3://b?idleTimeout=10":           "a time such as 10s",
		"s3://b?endpoint=":                "the parameter endpoint is empty",
		"s3://b?endpoint=ftp://x":         "Endpoint: it must be a URL",
		"s3://b?endpoint=http://u:p@x":    "Endpoint: it has credentials",
	} {
		_, err := objectstore.ParseURL(text)
		if !errors.Is(err, fs.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseURL(%q) = %v, want an invalid argument with %q", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("ParseURL(%q) = %v, which shows a credential", text, err)
		}
	}
}
