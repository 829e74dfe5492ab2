package objectstore

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/internal/wording"
)

// scheme is what the URL of a workspace begins with.
const scheme = "s3"

// ParseURL returns the options that a URL stands for:
//
//	s3://BUCKET/PREFIX?endpoint=URL&region=NAME&profile=NAME&anonymous=BOOL&requesterPays=BOOL&pathStyle=BOOL&probe=BOOL&index=BOOL&responseTimeout=TIME&idleTimeout=TIME
//
// Every parameter may be left out and then means what the zero Option does.
// Credentials have no place in a URL: they come from the environment or the
// profile.
//
// # Errors
//
// [io/fs.ErrInvalid], which names the part that is wrong.
func ParseURL(text string) (*Options, error) {
	parsed, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, invalid("the URL cannot be read: expected one such as s3://bucket/prefix")
	case parsed.Scheme == "":
		return nil, invalid("this is not the URL of a bucket: expected one such as s3://bucket/prefix")
	case parsed.Scheme != scheme:
		return nil, invalid(fmt.Sprintf("the URL begins with %q, expected %q", parsed.Scheme+":", scheme+"://"))
	case parsed.User != nil:
		return nil, invalid("credentials do not belong in a URL: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a profile")
	case parsed.Fragment != "" || parsed.Port() != "":
		return nil, invalid("the URL has a port or a fragment: expected one such as s3://bucket/prefix?endpoint=http://localhost:9000")
	}
	o := &Options{Bucket: parsed.Host, Prefix: strings.TrimPrefix(parsed.Path, "/")}
	query, err := url.ParseQuery(parsed.RawQuery)
	if err != nil {
		return nil, invalid("what follows the question mark cannot be read: expected one such as region=eu-west-1&profile=team")
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if len(query[name]) > 1 {
			return nil, invalid(fmt.Sprintf("the parameter %q is there twice", name))
		}
		if err := o.setParameter(name, query.Get(name)); err != nil {
			return nil, err
		}
	}
	return o, o.Check()
}

// setParameter sets what a parameter of a URL stands for.
func (o *Options) setParameter(name, value string) error {
	switch name {
	case "endpoint":
		if o.Endpoint = value; value == "" {
			return invalid("the parameter endpoint is empty: leave it out for AWS")
		}
	case "region":
		o.Region = value
	case "profile":
		o.Profile = value
	case "pathStyle":
		o.PathStyle = new(bool)
		return parseSwitch(name, value, o.PathStyle)
	case "probe":
		return parseSwitch(name, value, &o.Probe)
	case "index":
		on := false
		if err := parseSwitch(name, value, &on); err != nil || !on {
			return err
		}
		o.Index = &IndexOptions{}
	case "anonymous":
		return parseSwitch(name, value, &o.Anonymous)
	case "requesterPays":
		return parseSwitch(name, value, &o.RequesterPays)
	case "responseTimeout":
		return parseTime(name, value, &o.ResponseTimeout)
	case "idleTimeout":
		return parseTime(name, value, &o.IdleTimeout)
	default:
		return invalid(fmt.Sprintf("the parameter %q is unknown: %s", name, wording.Suggest(name, []string{
			"endpoint", "region", "profile", "anonymous", "requesterPays", "pathStyle", "probe", "index", "responseTimeout", "idleTimeout"})))
	}
	return nil
}

// parseSwitch reads a parameter that is true or false.
func parseSwitch(name, value string, on *bool) error {
	if value != "true" && value != "false" {
		return invalid(fmt.Sprintf("%s is %q, and must be true or false", name, value))
	}
	*on = value == "true"
	return nil
}

// parseTime reads a parameter that is a time.
func parseTime(name, value string, d *time.Duration) (err error) {
	if *d, err = time.ParseDuration(value); err != nil {
		return invalid(fmt.Sprintf("%s is %q, and must be a time such as 10s or 1m30s", name, value))
	}
	return nil
}
