package objectstore_test

import (
	"errors"
	"io/fs"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
)

// FuzzAnswers gives one request of an operation an answer that makes no sense.
// Whatever it is, the operation must end without a panic, and an error must
// name the file and nothing else.
func FuzzAnswers(f *testing.F) {
	cases := slices.Concat(writeFaults(), treeFaults(), readFaults())
	for i := range cases {
		for n := range 6 {
			if !exhaustive.Drawn(f, 3) {
				continue
			}
			f.Add(byte(i), byte(n), 200, "", []byte(nil), int64(0), 0)
			f.Add(byte(i), byte(n), 200, "ETag: \"\"\nContent-Range: bytes 0-9/9000000000000000000", []byte("<a/>"), int64(-1), 0)
			f.Add(byte(i), byte(n), 206, "ETag: \"abc\"\nContent-Range: bytes 5-4/3\nLast-Modified: never", []byte("abc"), int64(9e18), 2)
			f.Add(byte(i), byte(n), 200, "ETag: \"abc\"", []byte("<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>a</NextContinuationToken>"+
				"<Contents><Key/><ETag>a</ETag><Size>-1</Size></Contents><CommonPrefixes><Prefix/></CommonPrefixes></ListBucketResult>"), int64(-1), 0)
			f.Add(byte(i), byte(n), 416, "", []byte("<Error><Code>InvalidRange</Code></Error>"), int64(-1), 10)
			f.Add(byte(i), byte(n), 304, "X-Amz-Mp-Parts-Count: -1\nContent-Length: x", []byte(nil), int64(0), 0)
			f.Add(byte(i), byte(n), 200, "X-Amz-Checksum-Crc32: !", []byte("<CopyObjectResult><ETag></ETag></CopyObjectResult>"), int64(-1), 0)
		}
	}
	servers := make([]*s3test.Server, len(profiles()))
	for i, p := range profiles() {
		servers[i] = newFaultServer(p, nil)
		f.Cleanup(servers[i].Close)
	}
	f.Fuzz(func(t *testing.T, which, n byte, status int, headers string, body []byte, length int64, truncate int) {
		c := cases[int(which)%len(cases)]
		edit := func(a *s3test.Answer) {
			a.Status = 200 + max(status, -status, 0)%400
			a.Header = http.Header{}
			for line := range strings.Lines(headers) {
				name, value, _ := strings.Cut(line, ":")
				a.Header.Add(textproto.TrimString(name), textproto.TrimString(value))
			}
			a.Header.Del("Content-Length")
			a.Body, a.Length = body, length
		}
		for i, p := range profiles() {
			server := servers[i]
			server.Inject(nil)
			for _, key := range server.Objects(bucket) {
				server.Delete(bucket, key)
			}
			for key, content := range c.before {
				server.Put(bucket, faultPrefix+"/"+key, []byte(content))
			}
			fsys := inProcess(server, p.compat, impatient(2)).open(t, faultPrefix, objectstore.Options{ResponseTimeout: patience, IdleTimeout: patience})
			fsys.SetPartSizes(partSize)
			injector := &injector{n: int(n) + 1, fault: s3test.Fault{Edit: edit, Truncate: max(truncate, 0)}, mode: modes()[n%3]}
			server.Inject(injector.inject)
			begun := time.Now()
			if _, err := c.do(t.Context(), fsys); err != nil && !errors.Is(err, errDone) {
				if _, ok := errors.AsType[*fs.PathError](err); !ok {
					t.Errorf("%s: error is a %T, want a *fs.PathError: %v", c.name, err, err)
				}
				checkDiscreet(t, err, server.URL, faultPrefix)
			}
			if took := time.Since(begun); took > patience {
				t.Errorf("%s: it took %v", c.name, took)
			}
			server.ResetRequests()
		}
	})
}
