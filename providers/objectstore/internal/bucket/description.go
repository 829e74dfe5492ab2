package bucket

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/workspacekit/workspacekit/providers/objectstore/internal/object"
	"github.com/workspacekit/workspacekit/workspace"
)

// Description is what a store keeps beside the content of an object: the
// headers that a write sends with it. It never changes.
type Description http.Header

// The headers of a description, beside those that begin with metaPrefix. A read
// tells the number of tags only.
var described = []string{
	"Content-Type", "Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Language", "Expires",
	ClassHeader, redirectHeader, tagCountHeader,
}

const (
	metaPrefix     = "X-Amz-Meta-"
	ClassHeader    = "X-Amz-Storage-Class"
	redirectHeader = "X-Amz-Website-Redirect-Location"
	tagsHeader     = "X-Amz-Tagging"
	tagCountHeader = "X-Amz-Tagging-Count"
)

// tokenHeader is the header of the token, which describes no object.
var tokenHeader = MetaHeader(tokenKey)

// MetaHeader is the header of the user metadata with that key.
func MetaHeader(key string) string { return http.CanonicalHeaderKey(metaPrefix + key) }

// describedBy returns those headers of the answer to a GET or HEAD that a write
// sends to keep what they describe. The token is not among them: each write has
// its own.
func describedBy(header http.Header) Description {
	d := make(Description)
	for name, values := range header {
		if strings.HasPrefix(name, metaPrefix) && name != tokenHeader {
			d[name] = values
		}
	}
	for _, name := range described {
		if values := header[name]; len(values) > 0 && values[0] != "" {
			d[name] = values
		}
	}
	return d
}

// apply is an option of a request that makes an object.
func (d Description) apply(o *s3.Options) {
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
// request if it has any. They may have been deleted after d was read.
func (b *Bucket) withTags(ctx context.Context, key string, d Description) (Description, error) {
	count := http.Header(d).Get(tagCountHeader)
	if n, err := strconv.Atoi(count); err != nil || n == 0 || d[tagsHeader] != nil {
		return d, nil
	}
	out, err := b.client.GetObjectTagging(ctx, &s3.GetObjectTaggingInput{Bucket: b.name, Key: &key})
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
	if len(tags) == 0 {
		delete(d, tagCountHeader)
		return d, nil
	}
	d[tagsHeader] = []string{tags.Encode()}
	return d, nil
}

// Replaces returns the description of what a write of the object key on the
// conditions of o creates: the one of the version it replaces, if there is one,
// and otherwise fresh, the one of a new file. It takes no request if the version
// was read or written in the last moments.
//
// # Errors
//
// [workspace.ErrConflict] if the file does not have the version, and the
// store's.
func (b *Bucket) Replaces(ctx context.Context, key string, fresh Description, o workspace.WriteOptions) (Description, error) {
	if o.IfVersion == "" {
		return fresh, nil
	}
	d, ok := b.descriptions.get(key, o.IfVersion)
	if !ok {
		now, err := b.Stat(ctx, key)
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && now.Version() != o.IfVersion:
			return nil, workspace.ErrConflict
		case err != nil:
			return nil, err
		}
		d = now.Description()
	}
	return b.withTags(ctx, key, d)
}

// Remember keeps the description of a version that was written, for the next
// write that replaces it.
func (b *Bucket) Remember(key, etag string, d Description) {
	b.descriptions.put(key, known{version: object.VersionOf(etag), description: d})
}

// maxDescriptions is how many descriptions are remembered.
const maxDescriptions = 1024

// MarkerDescription has the type that other programs give to the markers of
// directories.
var MarkerDescription = Description{"Content-Type": {"application/x-directory"}}

// descriptions remembers those of versions that have been read or written a
// short while ago, so that a write that replaces such a version need not ask
// what it must keep. It is safe for concurrent use.
type descriptions struct {
	ttl time.Duration

	mu    sync.Mutex
	known map[string]known // by key; guarded by mu
}

// known is what describes a version. Few reads are followed by a write, so the
// header of a read is kept as it is until one is.
type known struct {
	version     workspace.Version
	header      http.Header // of a read; nil after a write
	description Description
	expires     time.Time
}

func newDescriptions(ttl time.Duration) *descriptions {
	return &descriptions{ttl: ttl, known: make(map[string]known)}
}

func (m *descriptions) get(key string, version workspace.Version) (d Description, ok bool) {
	m.mu.Lock()
	k, ok := m.known[key]
	m.mu.Unlock()
	switch {
	case !ok || k.version != version || !time.Now().Before(k.expires):
		return nil, false
	case k.header != nil:
		return describedBy(k.header), true
	}
	return k.description, true
}

func (m *descriptions) put(key string, k known) {
	k.expires = time.Now().Add(m.ttl)
	m.mu.Lock()
	defer m.mu.Unlock()
	for dropped := range m.known {
		if len(m.known) < maxDescriptions {
			break
		}
		delete(m.known, dropped)
	}
	m.known[key] = k
}
