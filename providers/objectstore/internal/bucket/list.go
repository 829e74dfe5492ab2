package bucket

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"golang.org/x/sync/errgroup"

	"github.com/workspacekit/workspacekit/providers/objectstore/internal/answer"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/listing"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/object"
)

// List sends one request, and one for each object that has the content of a
// tombstone. Some stores have pages without keys before others, and those it
// passes over. It is a [listing.Func].
func (b *Bucket) List(ctx context.Context, q listing.Query) (listing.Page, error) {
	for {
		p, err := b.page(ctx, q)
		if err != nil || !p.Empty() || p.Token == "" {
			return p, err
		}
		q = q.Next(p)
	}
}

// page sends the request for one page.
func (b *Bucket) page(ctx context.Context, q listing.Query) (listing.Page, error) {
	in := &s3.ListObjectsV2Input{Bucket: b.name, EncodingType: types.EncodingTypeUrl}
	if q.Prefix != "" {
		in.Prefix = aws.String(q.Prefix)
	}
	if !q.Flat {
		in.Delimiter = aws.String("/")
	}
	if q.Limit > 0 {
		in.MaxKeys = aws.Int32(min(q.Limit, listing.MaxKeys))
	}
	switch {
	case q.Token != "":
		in.ContinuationToken = aws.String(q.Token)
	case q.After != "":
		in.StartAfter = aws.String(q.After)
	}
	a := listAnswer{query: q}
	if _, err := b.client.ListObjectsV2(ctx, in, a.decode); err != nil {
		return listing.Page{}, err
	}
	if slices.ContainsFunc(a.page.Objects, object.Object.MayBeTombstone) {
		return a.page, b.findTombstones(ctx, a.page.Objects)
	}
	return a.page, nil
}

// findTombstones marks the tombstones of objects. Some programs write files that
// have the same content.
func (b *Bucket) findTombstones(ctx context.Context, objects []object.Object) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(b.opts.Workers)
	for i := range objects {
		if o := &objects[i]; o.MayBeTombstone() {
			group.Go(func() error {
				now, err := b.Stat(ctx, o.Key)
				if err == nil { // and it may have been written since
					*o = now.Object
				}
				o.Tombstone = errors.Is(err, fs.ErrNotExist)
				if o.Tombstone || errors.Is(err, fs.ErrPermission) { // then it is taken for a file
					return nil
				}
				return err
			})
		}
	}
	return group.Wait()
}

// listAnswer is the answer to a query.
type listAnswer struct {
	query listing.Query
	page  listing.Page
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
		if errors.Is(err, listing.ErrOrder) {
			return out, metadata, errOrder
		}
		return out, metadata, &smithy.DeserializationError{Err: err}
	}
	out.Result = &s3.ListObjectsV2Output{}
	return out, metadata, nil
}

// errOrder says that the store cannot hold a workspace. To ask again does not help.
var errOrder = answer.New(nil, "the store does not list keys in order: use another")

// read reads the document of the answer.
func (a *listAnswer) read(body io.Reader) error {
	document, err := io.ReadAll(io.LimitReader(body, listing.MaxDocument))
	if err != nil {
		return err
	}
	a.page, err = listing.Decode(document, a.query)
	return err
}

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

// FindKeys is how many keys Find asks for where those in a directory do not
// matter: the file, a few whose names continue with a character before the
// slash, the marker, and one more in the directory.
const FindKeys = 16

// Finding is what there is at a name. If it has neither file nor keys there is
// nothing.
type Finding struct {
	File  *object.Object // nil if it is none
	Keys  []string       // in the directory, its marker included
	Empty bool           // there is nothing in the directory but its marker
	Token string         // where there are more keys; empty if these are all
}

// Exists reports whether there is a file or a directory.
func (f Finding) Exists() bool { return f.File != nil || len(f.Keys) > 0 }

// IsDir reports whether there is a directory.
func (f Finding) IsDir() bool { return f.File == nil && len(f.Keys) > 0 }

// Find looks for the file key, or the directory whose marker has the key and a
// slash, in one request for so many keys, or a second if very many names continue
// this one.
func (b *Bucket) Find(ctx context.Context, key string, keys int32) (Finding, error) {
	dirKey := key + "/"
	p, err := b.List(ctx, listing.Query{Prefix: key, Limit: keys, Flat: true})
	if err != nil {
		return Finding{}, err
	}
	if p.Token != "" && !reaches(p, key, dirKey) {
		if p, err = b.List(ctx, listing.Query{Prefix: dirKey, Limit: keys, Flat: true}); err != nil {
			return Finding{}, err
		}
	}
	found := Finding{Token: p.Token, Empty: true}
	for _, o := range p.Objects {
		switch {
		case o.Key == key && !o.Tombstone:
			return Finding{File: &o}, nil
		case strings.HasPrefix(o.Key, dirKey):
			found.Keys = append(found.Keys, o.Key)
			found.Empty = found.Empty && (o.Key == dirKey || o.Tombstone)
		}
	}
	if last := p.Last(); last > dirKey && !strings.HasPrefix(last, dirKey) {
		found.Token = "" // all of the directory has been seen
	}
	found.Empty = found.Empty && found.Token == ""
	return found, nil
}

// reaches reports whether the page of a listing shows all that Find needs of it:
// the file key, or two keys of the directory dirKey, or that it has no more.
func reaches(p listing.Page, key, dirKey string) bool {
	inDir := 0
	for _, o := range p.Objects {
		switch {
		case o.Key == key && !o.Tombstone:
			return true
		case strings.HasPrefix(o.Key, dirKey):
			inDir++
		case o.Key > dirKey && !listing.Misspelt(o.Key):
			return true
		}
	}
	return inDir > 1
}
