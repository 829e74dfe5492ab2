package objectstore

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// maxKeys is the most keys that a store returns for one request.
const maxKeys = 1000

// listQuery is what a listing is asked for. Its keys are whole keys of the
// bucket.
type listQuery struct {
	prefix string
	after  string // only keys behind it; empty for all
	token  string // where the page before ended; empty for the first
	limit  int32  // of keys, up to maxKeys; zero means maxKeys
	flat   bool   // everything below the prefix, not its direct children
}

// page is the answer to a listQuery.
type page struct {
	objects  []object
	prefixes []string // of what lies deeper, each ending in a slash; none if flat
	token    string   // where the next page begins; empty if there is none
}

// list sends one request.
func (f *FS) list(ctx context.Context, q listQuery) (page, error) {
	in := &s3.ListObjectsV2Input{Bucket: f.bucket, EncodingType: types.EncodingTypeUrl}
	if q.prefix != "" {
		in.Prefix = aws.String(q.prefix)
	}
	if !q.flat {
		in.Delimiter = aws.String("/")
	}
	if q.limit > 0 {
		in.MaxKeys = aws.Int32(min(q.limit, maxKeys))
	}
	switch {
	case q.token != "":
		in.ContinuationToken = aws.String(q.token)
	case q.after != "":
		in.StartAfter = aws.String(q.after)
	}
	answer := listAnswer{query: q}
	_, err := f.client.ListObjectsV2(ctx, in, answer.decode)
	return answer.page, err
}

// answers reports whether p can be the answer to q: every key begins with the
// prefix, every file has an ETag, and the next page is another one.
func (p page) answers(q listQuery) bool {
	for _, o := range p.objects {
		isMarker := strings.HasSuffix(o.key, "/")
		if !strings.HasPrefix(o.key, q.prefix) || o.size < 0 || o.size > maxSize || !isMarker && versionOf(o.etag) == "" {
			return false
		}
	}
	for _, prefix := range p.prefixes {
		if !strings.HasPrefix(prefix, q.prefix) || len(prefix) == len(q.prefix) {
			return false
		}
	}
	return p.token == "" || p.token != q.token
}

// page returns the keys and prefixes as they are in the store. Some stores do
// not encode them, whatever they are asked for, and do not say that they did.
func (r listResult) page() (p page, err error) {
	p = page{objects: r.objects, prefixes: r.prefixes, token: r.token}
	switch {
	case !r.ends: // it would be the last page by silence
		return page{}, errDocument
	case !r.truncated:
		p.token = ""
	case p.token == "":
		return page{}, errDocument
	}
	if r.encoding != string(types.EncodingTypeUrl) {
		return p, nil
	}
	for i := range p.objects {
		if p.objects[i].key, err = url.QueryUnescape(p.objects[i].key); err != nil {
			return page{}, err
		}
	}
	for i := range p.prefixes {
		if p.prefixes[i], err = url.QueryUnescape(p.prefixes[i]); err != nil {
			return page{}, err
		}
	}
	return p, nil
}

// listAnswer is the answer to a query.
type listAnswer struct {
	query listQuery
	page  page
}

// read reads the document of the answer.
func (a *listAnswer) read(body io.Reader) error {
	document, err := io.ReadAll(io.LimitReader(body, maxListing))
	if err != nil {
		return err
	}
	result, err := decodeList(document)
	if err != nil {
		return err
	}
	p, err := result.page()
	if err == nil && !p.answers(a.query) {
		err = errDocument
	}
	if err == nil {
		a.page = p
	}
	return err
}

// decode is an option of a listing: it reads the answer into a, where the SDK
// would decode it. Errors of the store are left to the SDK.
func (a *listAnswer) decode(o *s3.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		const step = "OperationDeserializer"
		sdk, ok := stack.Deserialize.Get(step)
		if !ok {
			return errors.New("the SDK decodes listings in another way")
		}
		_, err := stack.Deserialize.Swap(step, &listDeserializer{answer: a, sdk: sdk})
		return err
	})
}

// listDeserializer takes the place of the SDK's own.
type listDeserializer struct {
	answer *listAnswer
	sdk    middleware.DeserializeMiddleware
}

// ID implements [middleware.DeserializeMiddleware].
func (d *listDeserializer) ID() string { return d.sdk.ID() }

// HandleDeserialize implements [middleware.DeserializeMiddleware].
func (d *listDeserializer) HandleDeserialize(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
	out, metadata, err := next.HandleDeserialize(ctx, in)
	response, ok := out.RawResponse.(*smithyhttp.Response)
	if err != nil || !ok || response.StatusCode != http.StatusOK {
		return d.sdk.HandleDeserialize(ctx, in, answered{out, metadata, err})
	}
	defer response.Body.Close()
	if err := d.answer.read(response.Body); err != nil {
		return out, metadata, &smithy.DeserializationError{Err: err}
	}
	out.Result = &s3.ListObjectsV2Output{}
	return out, metadata, nil
}

// maxListing is more bytes than 1,000 of the longest keys take.
const maxListing = 64 << 20

// answered is a handler that has been called.
type answered struct {
	out      middleware.DeserializeOutput
	metadata middleware.Metadata
	err      error
}

// HandleDeserialize implements [middleware.DeserializeHandler].
func (a answered) HandleDeserialize(context.Context, middleware.DeserializeInput) (middleware.DeserializeOutput, middleware.Metadata, error) {
	return a.out, a.metadata, a.err
}

// last returns the last key, or prefix of keys, of the page.
func (p page) last() string {
	last := ""
	if n := len(p.objects); n > 0 {
		last = p.objects[n-1].key
	}
	if n := len(p.prefixes); n > 0 {
		last = max(last, p.prefixes[n-1])
	}
	return last
}

// empty reports whether there is nothing in the page.
func (p page) empty() bool { return len(p.objects) == 0 && len(p.prefixes) == 0 }

// exists reports whether any key begins with prefix.
func (f *FS) exists(ctx context.Context, prefix string) (bool, error) {
	p, err := f.list(ctx, listQuery{prefix: prefix, limit: 1, flat: true})
	return !p.empty(), err
}
