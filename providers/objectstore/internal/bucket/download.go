package bucket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/workspacekit/workspacekit/providers/objectstore/internal/answer"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/object"
	"github.com/workspacekit/workspacekit/workspace"
)

const (
	// maxBodyCuts is how often in a row the rest of a body that was cut is
	// asked for. Cuts with cutWorth bytes between them are not in a row.
	maxBodyCuts = 3
	cutWorth    = 1 << 20
	// maxAhead is how much memory a read takes because the store says that so
	// many bytes will come.
	maxAhead = 64 << 20
)

// Window is a range of the bytes of an object.
type Window struct {
	First int64
	Last  int64 // math.MaxInt64 for the end
}

// header returns the value of a Range header for w.
func (w Window) header() *string {
	if w.Last == math.MaxInt64 {
		return aws.String(fmt.Sprintf("bytes=%d-", w.First))
	}
	return aws.String(fmt.Sprintf("bytes=%d-%d", w.First, w.Last))
}

// ErrRange says that a window begins after the end of a file.
var ErrRange = errors.New("the window begins after the end")

// Download is an object, or a window of one, that is being read. It is an
// [io.Reader] that asks for the rest if the connection is lost. The context and
// the version are those of the first request.
type Download struct {
	object.Object // the size is -1 if it is unknown
	bucket        *Bucket
	ctx           context.Context
	header        http.Header // of the first answer
	tombstone     bool
	opaque        bool // the store says that the ETag is not the MD5 sum of the content

	body io.ReadCloser
	at   int64 // of the next byte, in the object
	end  int64 // of the window; -1 if it is unknown

	cuts    int   // in a row
	resumed int64 // where the body began
}

// Open begins to download the object key, or the window w of it where that is not
// nil: one request, and one more for a part of a file whose answer does not say
// how long it is. It remembers what describes the object.
//
// # Errors
//
// ErrRange, [fs.ErrNotExist], and the store's.
func (b *Bucket) Open(ctx context.Context, key string, w *Window) (*Download, error) {
	d, err := b.get(ctx, key, w)
	if err == nil && d.Size <= 0 && !d.IsProvenEmpty() { // the answer to a range says how long the file is
		d.body.Close()
		d, err = b.get(ctx, key, &Window{Last: math.MaxInt64})
	}
	return d, err
}

// get is Open that believes an answer without a length.
func (b *Bucket) get(ctx context.Context, key string, w *Window) (*Download, error) {
	d, err := b.fetch(ctx, key, w, nil)
	switch {
	case err == nil && d.tombstone:
		d.body.Close()
		return nil, fs.ErrNotExist
	case answer.IsMissing(err):
		return nil, fs.ErrNotExist
	case err != nil:
		return nil, err
	}
	b.descriptions.put(d.Key, known{version: d.Version(), header: d.header})
	return d, nil
}

// fetch is get that shows tombstones, and takes a condition: the ETag ifMatch,
// where that is not nil.
//
// # Errors
//
// ErrRange, and those of the store.
func (b *Bucket) fetch(ctx context.Context, key string, w *Window, ifMatch *string) (*Download, error) {
	in := &s3.GetObjectInput{Bucket: b.name, Key: aws.String(key), IfMatch: ifMatch}
	if w != nil {
		in.Range = w.header()
	}
	out, err := b.client.GetObject(ctx, in)
	switch {
	case answer.Status(err) == http.StatusRequestedRangeNotSatisfiable:
		return nil, ErrRange
	case err != nil:
		return nil, err
	}
	d := &Download{
		Object: object.Object{Key: key, ETag: aws.ToString(out.ETag), Modified: aws.ToTime(out.LastModified)},
		header: headerOf(out.ResultMetadata),
		bucket: b, ctx: ctx, tombstone: object.HasTombstone(out.Metadata), body: out.Body,
		opaque: out.SSECustomerAlgorithm != nil || strings.HasPrefix(string(out.ServerSideEncryption), "aws:kms"),
	}
	if !d.measure(out, w) {
		out.Body.Close()
		return nil, answer.Explain(ctx, answer.Incomplete("the range that was asked for"))
	}
	return d, nil
}

// measure takes over which bytes out has, and reports whether w asks for them.
// An empty object has no ranges, so stores may answer with all of it.
func (d *Download) measure(out *s3.GetObjectOutput, w *Window) bool {
	length := int64(-1)
	if out.ContentLength != nil {
		length = *out.ContentLength
	}
	if length > object.MaxSize {
		return false
	}
	if out.ContentRange == nil {
		d.Size, d.end = length, length
		return w == nil || length == 0
	}
	var last int64
	_, err := fmt.Sscanf(*out.ContentRange, "bytes %d-%d/%d", &d.at, &last, &d.Size)
	if err != nil || w == nil || d.at != w.First || d.at > last || d.Size > object.MaxSize || last != min(d.Size-1, w.Last) {
		return false
	}
	d.end, d.resumed = last+1, d.at
	return length < 0 || length == d.end-d.at
}

// Read implements [io.Reader]. It returns [io.EOF] only if all of the window
// has been read.
func (d *Download) Read(p []byte) (int, error) {
	n, err := d.body.Read(p)
	d.at += int64(n)
	switch {
	case d.end >= 0 && d.at > d.end:
		return n, answer.Explain(d.ctx, answer.Incomplete("the length that it has"))
	case err == nil, err == io.EOF && d.at == d.end:
		return n, err
	case d.at == d.end: // by the checksum that the SDK compares at the end
		return n, errDamaged
	}
	return n, d.resume(err)
}

// errDamaged says that a content is not what its checksum says.
var errDamaged = answer.New(workspace.ErrUnavailable, "the content does not have its checksum: try again")

// errOvertaken says that a file was written while it was read.
var errOvertaken = answer.New(workspace.ErrUnavailable, "the file was written while it was read: try again")

// resume asks for the rest of a body that ended too soon with cause, or may
// have. An end that nothing announced is the end if nothing follows it.
func (d *Download) resume(cause error) error {
	unannounced := cause == io.EOF && d.end < 0
	if cause == io.EOF {
		cause = io.ErrUnexpectedEOF
	}
	if d.at-d.resumed >= cutWorth {
		d.cuts = 0
	}
	if d.ctx.Err() != nil || d.cuts == maxBodyCuts {
		return answer.Explain(d.ctx, cause)
	}
	d.cuts++
	w := Window{First: d.at, Last: math.MaxInt64}
	if d.end >= 0 {
		w.Last = d.end - 1
	}
	rest, err := d.bucket.fetch(d.ctx, d.Key, &w, aws.String(d.ETag))
	switch {
	case err == ErrRange && unannounced:
		d.Size, d.end = d.at, d.at
		return io.EOF
	case err == ErrRange:
		return answer.Explain(d.ctx, cause)
	case answer.IsConflict(err), answer.IsMissing(err):
		return errOvertaken
	case err != nil:
		return err
	case rest.ETag != d.ETag || rest.at != d.at || d.Size >= 0 && rest.Size != d.Size:
		rest.body.Close()
		return errOvertaken
	}
	d.body.Close()
	d.body, d.Size, d.end, d.resumed = rest.body, rest.Size, rest.end, d.at
	return nil
}

// readOn reads d to its end, or until it has more bytes than limit if that is
// positive, and appends it to data.
func (d *Download) readOn(data []byte, limit int64) ([]byte, error) {
	data = slices.Grow(data, int(min(max(d.end-d.at, 0), maxAhead))+1)
	for limit <= 0 || int64(len(data)) <= limit {
		n, err := d.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, err
		}
		if len(data) == cap(data) {
			data = slices.Grow(data, bytes.MinRead)
		}
	}
	return data, nil
}

// Close closes the connection, or makes it free for the next request.
func (d *Download) Close() error { return d.body.Close() }
