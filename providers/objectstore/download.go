package objectstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
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

// window is a range of the bytes of an object.
type window struct {
	first int64
	last  int64 // math.MaxInt64 for the end
}

// header returns the value of a Range header for w.
func (w window) header() *string {
	if w.last == math.MaxInt64 {
		return aws.String(fmt.Sprintf("bytes=%d-", w.first))
	}
	return aws.String(fmt.Sprintf("bytes=%d-%d", w.first, w.last))
}

// errRange says that a window begins after the end of a file.
var errRange = errors.New("the window begins after the end")

// download is an object, or a window of one, that is being read. It is an
// [io.Reader] that asks for the rest if the connection is lost. The context and
// the version are those of the first request.
type download struct {
	object // the size is -1 if it is unknown
	fs     *FS
	ctx    context.Context
	description
	gone   bool // the object takes the place of a file that was moved away
	opaque bool // the store says that the ETag is not the MD5 sum of the content

	body io.ReadCloser
	at   int64 // of the next byte, in the object
	end  int64 // of the window; -1 if it is unknown

	cuts    int   // in a row
	resumed int64 // where the body began
}

// fetch begins to download the object key, or the window w of it where that is
// not nil, on the condition that it has the ETag ifMatch where that is not nil.
//
// # Errors
//
// errRange, an *answerError, and those of the store.
func (f *FS) fetch(ctx context.Context, key string, w *window, ifMatch *string) (*download, error) {
	in := &s3.GetObjectInput{Bucket: f.bucket, Key: aws.String(key), IfMatch: ifMatch}
	if w != nil {
		in.Range = w.header()
	}
	out, err := f.client.GetObject(ctx, in)
	switch {
	case statusOf(err) == http.StatusRequestedRangeNotSatisfiable:
		return nil, errRange
	case err != nil:
		return nil, err
	}
	d := &download{
		object:      object{key: key, etag: aws.ToString(out.ETag), modified: aws.ToTime(out.LastModified)},
		description: describedBy(out.ResultMetadata),
		fs:          f, ctx: ctx, gone: isGone(out.Metadata), body: out.Body,
		opaque: out.SSECustomerAlgorithm != nil || strings.HasPrefix(string(out.ServerSideEncryption), "aws:kms"),
	}
	if !d.measure(out, w) {
		out.Body.Close()
		return nil, &answerError{lacks: "the range that was asked for"}
	}
	return d, nil
}

// measure takes over which bytes out has, and reports whether w asks for them.
// An empty object has no ranges, so stores may answer with all of it.
func (d *download) measure(out *s3.GetObjectOutput, w *window) bool {
	length := int64(-1)
	if out.ContentLength != nil {
		length = *out.ContentLength
	}
	if length > maxSize {
		return false
	}
	if out.ContentRange == nil {
		d.size, d.end = length, length
		return w == nil || length == 0
	}
	var last int64
	_, err := fmt.Sscanf(*out.ContentRange, "bytes %d-%d/%d", &d.at, &last, &d.size)
	if err != nil || w == nil || d.at != w.first || d.at > last || d.size > maxSize || last != min(d.size-1, w.last) {
		return false
	}
	d.end, d.resumed = last+1, d.at
	return length < 0 || length == d.end-d.at
}

// Read implements [io.Reader]. It returns [io.EOF] only if all of the window
// has been read.
func (d *download) Read(p []byte) (int, error) {
	n, err := d.body.Read(p)
	d.at += int64(n)
	switch {
	case d.end >= 0 && d.at > d.end:
		return n, &answerError{lacks: "the length that it has"}
	case err == nil, err == io.EOF && d.at == d.end:
		return n, err
	case d.at == d.end: // by the checksum that the SDK compares at the end
		return n, errDamaged
	}
	return n, d.resume(err)
}

// errDamaged says that a content is not what its checksum says.
var errDamaged = errors.New("the content does not have its checksum")

// errOvertaken says that a file was written while it was read.
var errOvertaken = errors.New("the file was written while it was read")

// resume asks for the rest of a body that ended too soon with cause, or may
// have. An end that nothing announced is the end if nothing follows it.
func (d *download) resume(cause error) error {
	unannounced := cause == io.EOF && d.end < 0
	if cause == io.EOF {
		cause = io.ErrUnexpectedEOF
	}
	if d.at-d.resumed >= cutWorth {
		d.cuts = 0
	}
	if d.ctx.Err() != nil || d.cuts == maxBodyCuts {
		return cause
	}
	d.cuts++
	w := window{first: d.at, last: math.MaxInt64}
	if d.end >= 0 {
		w.last = d.end - 1
	}
	rest, err := d.fs.fetch(d.ctx, d.key, &w, aws.String(d.etag))
	switch {
	case err == errRange && unannounced:
		d.size, d.end = d.at, d.at
		return io.EOF
	case err == errRange:
		return cause
	case isConflict(err), isMissing(err):
		return errOvertaken
	case err != nil:
		return err
	case rest.etag != d.etag || rest.at != d.at || d.size >= 0 && rest.size != d.size:
		rest.body.Close()
		return errOvertaken
	}
	d.body.Close()
	d.body, d.size, d.end, d.resumed = rest.body, rest.size, rest.end, d.at
	return nil
}

// readOn reads d to its end, or until it has more bytes than limit if that is
// positive, and appends it to data.
func (d *download) readOn(data []byte, limit int64) ([]byte, error) {
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
func (d *download) Close() error { return d.body.Close() }
