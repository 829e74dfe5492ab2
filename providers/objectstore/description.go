package objectstore

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/workspacekit/workspacekit/workspace"
)

// description is what a store keeps beside the content of an object: the
// headers that a write sends with it. It is not changed once it is made.
type description http.Header

// The headers of a description, beside those that begin with metaPrefix. A read
// tells the number of tags only.
var described = []string{
	"Content-Type", "Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Language", "Expires",
	classHeader, redirectHeader,
}

const (
	metaPrefix     = "X-Amz-Meta-"
	classHeader    = "X-Amz-Storage-Class"
	redirectHeader = "X-Amz-Website-Redirect-Location"
	tagsHeader     = "X-Amz-Tagging"
	tagCountHeader = "X-Amz-Tagging-Count"
)

// metaHeader is the header of the user metadata with that key.
func metaHeader(key string) string { return http.CanonicalHeaderKey(metaPrefix + key) }

// describe returns the description of a new file name: the type that its ending
// stands for, so that a browser shows what other programs serve from the
// bucket, and what the rules for new objects say.
func (f *FS) describe(name string) description {
	var d description
	if t := contentTypes[strings.ToLower(path.Ext(name))]; t != "" {
		d = description{"Content-Type": {t}}
	}
	for _, r := range f.rules {
		if !r.matches(name) {
			continue
		}
		if d == nil {
			d = make(description)
		}
		maps.Copy(d, r.description)
	}
	return d
}

// describedBy returns the headers of the answer to a GET or HEAD that a write
// sends to keep what they describe. The token is not among them: each write has
// its own.
func describedBy(answer middleware.Metadata) description {
	raw, ok := awsmiddleware.GetRawResponse(answer).(*smithyhttp.Response)
	if !ok {
		return nil
	}
	d := make(description)
	for name, values := range raw.Header {
		if strings.HasPrefix(name, metaPrefix) && name != metaHeader(tokenKey) {
			d[name] = values
		}
	}
	for _, name := range append(described, tagCountHeader) {
		if values := raw.Header[name]; len(values) > 0 && values[0] != "" {
			d[name] = values
		}
	}
	return d
}

// only returns what d has of the header name.
func (d description) only(name string) description {
	if values, ok := d[name]; ok {
		return description{name: values}
	}
	return nil
}

// apply is an option of a request that makes an object.
func (d description) apply(o *s3.Options) {
	set := func(ctx context.Context, in middleware.BuildInput, next middleware.BuildHandler) (middleware.BuildOutput, middleware.Metadata, error) {
		if request, ok := in.Request.(*smithyhttp.Request); ok {
			for name, values := range d {
				if name != tagCountHeader {
					request.Header[name] = slices.Clone(values)
				}
			}
		}
		return next.HandleBuild(ctx, in)
	}
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return stack.Build.Add(middleware.BuildMiddlewareFunc("workspacekit:Describe", set), middleware.Before)
	})
}

// withTags returns d, which describes the object key, with its tags: one
// request if it has any.
func (f *FS) withTags(ctx context.Context, key string, d description) (description, error) {
	count := http.Header(d).Get(tagCountHeader)
	if n, err := strconv.Atoi(count); err != nil || n == 0 || d[tagsHeader] != nil {
		return d, nil
	}
	out, err := f.client.GetObjectTagging(ctx, &s3.GetObjectTaggingInput{Bucket: f.bucket, Key: &key})
	if err != nil {
		return nil, err
	}
	tags := make(url.Values)
	for _, tag := range out.TagSet {
		if tag.Key != nil && tag.Value != nil {
			tags.Set(*tag.Key, *tag.Value)
		}
	}
	d = maps.Clone(d)
	d[tagsHeader] = []string{tags.Encode()}
	return d, nil
}

// describeNext returns the description of what a write of the file name on the
// conditions of o makes: that of the version it replaces, if there is one.
// Without a version to replace it is that of a new file.
//
// # Errors
//
// [workspace.ErrConflict] if the file does not have the version, and the
// store's.
func (f *FS) describeNext(ctx context.Context, name string, o workspace.WriteOptions) (description, error) {
	if o.IfVersion == "" {
		return f.describe(name), nil
	}
	key := f.key(name)
	d, ok := f.descriptions.get(key, o.IfVersion)
	if !ok {
		now, err := f.head(ctx, name)
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && versionOf(now.etag) != o.IfVersion:
			return nil, workspace.ErrConflict
		case err != nil:
			return nil, err
		}
		d = now.description
	}
	return f.withTags(ctx, key, d)
}

// maxDescriptions is how many descriptions are remembered.
const maxDescriptions = 1024

// descriptions remembers those of versions that have been read or written a
// short while ago, so that a write that replaces such a version need not ask
// for what is to stay. It is safe for concurrent use.
type descriptions struct {
	ttl time.Duration

	mu    sync.Mutex
	known map[string]knownDescription // by key; guarded by mu
}

type knownDescription struct {
	description
	version workspace.Version
	expires time.Time
}

func newDescriptions(ttl time.Duration) *descriptions {
	return &descriptions{ttl: ttl, known: make(map[string]knownDescription)}
}

func (m *descriptions) get(key string, version workspace.Version) (d description, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.known[key]
	if !ok || known.version != version || !time.Now().Before(known.expires) {
		return nil, false
	}
	return known.description, true
}

func (m *descriptions) put(key string, version workspace.Version, d description) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for dropped := range m.known {
		if len(m.known) < maxDescriptions {
			break
		}
		delete(m.known, dropped)
	}
	m.known[key] = knownDescription{description: d, version: version, expires: time.Now().Add(m.ttl)}
}
