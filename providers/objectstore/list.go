package objectstore

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"

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
	var result listResult
	if _, err := f.client.ListObjectsV2(ctx, in, result.decode); err != nil {
		return page{}, err
	}
	return result.page()
}

// page returns the keys and prefixes as they are in the store. Some stores do
// not encode them, whatever they are asked for, and do not say that they did.
func (r listResult) page() (p page, err error) {
	p = page{objects: r.objects, prefixes: r.prefixes}
	if r.truncated {
		if p.token = r.token; p.token == "" {
			return page{}, errDocument
		}
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

// decode is an option of a listing: it reads the answer into r, where the SDK
// would decode it. Errors of the store are left to the SDK.
func (r *listResult) decode(o *s3.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		const step = "OperationDeserializer"
		sdk, ok := stack.Deserialize.Get(step)
		if !ok {
			return errors.New("the SDK decodes listings in another way")
		}
		_, err := stack.Deserialize.Swap(step, &listDeserializer{result: r, sdk: sdk})
		return err
	})
}

// listDeserializer takes the place of the SDK's own.
type listDeserializer struct {
	result *listResult
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
	document, err := io.ReadAll(io.LimitReader(response.Body, maxListing))
	if err == nil {
		*d.result, err = decodeList(document)
	}
	if err != nil {
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
