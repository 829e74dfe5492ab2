package s3test_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/s3test"
)

// scenario is a sequence of requests on a bucket of its own.
type scenario struct {
	name     string
	requests []request
}

// request is sent to this server and to a real one.
type request struct {
	does   string // names the row
	method string
	path   string // below the bucket, escaped; "" for the bucket itself
	query  string // {upload} and {token} stand for the last ones received
	header map[string]string
	body   string
	// ours and real are what only the one or only the other server answers;
	// why says so in words. They fail as soon as it is no longer so.
	ours, real []string
	why        string
}

// TestCompare sends the same requests to this server and to a real one.
func TestCompare(t *testing.T) {
	settings, ok := s3test.External(t)
	if !ok {
		t.Skip("needs a real S3 server")
	}
	real := endpoint{settings.Endpoint, settings.Region, settings.AccessKeyID, settings.SecretAccessKey}
	server := s3test.New(t, nil)
	ours := endpoint{server.URL, server.Region, server.AccessKeyID, server.SecretAccessKey}
	for _, s := range scenarios() {
		t.Run(kebab(s.name), func(t *testing.T) {
			name := "s3test-" + strings.ToLower(rand.Text())
			peers := []*peer{ours.newPeer(t, name), real.newPeer(t, name)}
			for _, r := range s.requests {
				t.Run(kebab(r.does), func(t *testing.T) { r.compare(t, peers[0].do(t, r), peers[1].do(t, r)) })
			}
		})
	}
}

func kebab(name string) string { return strings.ReplaceAll(name, " ", "-") }

func (r request) compare(t *testing.T, ours, real []string) {
	onlyOurs, onlyReal := without(ours, real), without(real, ours)
	if diff := cmp.Diff([2][]string{without(r.ours, nil), without(r.real, nil)}, [2][]string{onlyOurs, onlyReal}); diff != "" {
		t.Errorf("%s %s?%s: this server answers\n\t%q\nand the real one\n\t%q\nthe differences are not the known ones (-known +found):\n%s",
			r.method, r.path, r.query, ours, real, diff)
	}
	if (r.why == "") != (len(r.ours)+len(r.real) == 0) {
		t.Errorf("row %q says why servers differ and not how, or the other way round", r.does)
	}
}

// without returns the lines that are not in others, each once and never nil.
func without(lines, others []string) []string {
	rest := []string{}
	for _, line := range lines {
		if !slices.Contains(others, line) && !slices.Contains(rest, line) {
			rest = append(rest, line)
		}
	}
	return rest
}

// endpoint is where a server is and how to sign requests to it.
type endpoint struct{ url, region, id, secret string }

// peer is a bucket of an endpoint, with what it told about itself.
type peer struct {
	endpoint
	bucket        string
	upload, token string
}

func (e endpoint) newPeer(t *testing.T, bucket string) *peer {
	t.Helper()
	p := &peer{endpoint: e, bucket: bucket}
	if lines := p.do(t, request{method: http.MethodPut}); lines[0] != "status 200" {
		t.Fatalf("the bucket could not be made: %q", lines)
	}
	t.Cleanup(func() { p.remove(t) })
	return p
}

// remove removes the bucket and all in it.
func (p *peer) remove(t *testing.T) {
	for _, line := range p.do(t, request{method: http.MethodGet, query: "uploads"}) {
		if _, key, ok := strings.Cut(line, "Upload/Key="); ok {
			p.do(t, request{method: http.MethodDelete, path: "/" + escaped(key), query: "uploadId={upload}"})
		}
	}
	lines := p.do(t, request{method: http.MethodGet, query: "list-type=2"})
	for _, line := range slices.Backward(lines) { // folders after what is in them
		if _, key, ok := strings.Cut(line, "Contents/Key="); ok {
			p.do(t, request{method: http.MethodDelete, path: "/" + escaped(key)})
		}
	}
	if lines := p.do(t, request{method: http.MethodDelete}); lines[0] != "status 204" {
		t.Errorf("the bucket %s could not be removed: %q", p.bucket, lines)
	}
}

// escaped returns key as S3 signs it in a path.
func escaped(key string) string {
	return strings.NewReplacer("+", "%20", "%2F", "/").Replace(url.QueryEscape(key))
}

// do sends r and returns what there is to compare of the answer, in lines.
func (p *peer) do(t *testing.T, r request) []string {
	t.Helper()
	response, err := http.DefaultTransport.RoundTrip(p.sign(t, r))
	if err != nil {
		t.Fatalf("%s %s: %v", r.method, r.path, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", r.method, r.path, err)
	}
	lines := append([]string{"status " + strconv.Itoa(response.StatusCode)}, headerLines(response.Header)...)
	if r.method == http.MethodHead && response.StatusCode < 300 && r.path != "" {
		lines = append(lines, "length "+strconv.FormatInt(response.ContentLength, 10))
	}
	switch {
	case len(body) == 0:
		return lines
	case !strings.HasPrefix(response.Header.Get("Content-Type"), "application/xml"):
		return append(lines, "body "+string(body))
	}
	lines = append(lines, p.xmlLines(body)...)
	if slices.Contains(lines, "Error/Code=SignatureDoesNotMatch") {
		t.Fatalf("%s %s: the row is not escaped as it should be: %q", r.method, r.path, lines)
	}
	return lines
}

func (p *peer) sign(t *testing.T, r request) *http.Request {
	t.Helper()
	fill := strings.NewReplacer("{upload}", url.QueryEscape(p.upload), "{token}", url.QueryEscape(p.token), "{bucket}", p.bucket)
	raw, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), r.method,
		p.url+"/"+p.bucket+r.path+"?"+fill.Replace(r.query), bytes.NewReader([]byte(r.body)))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range r.header {
		raw.Header.Set(name, fill.Replace(value))
	}
	sum := sha256.Sum256([]byte(r.body))
	payload := hex.EncodeToString(sum[:])
	raw.Header.Set("X-Amz-Content-Sha256", payload)
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	credentials := aws.Credentials{AccessKeyID: p.id, SecretAccessKey: p.secret}
	if err := signer.SignHTTP(t.Context(), credentials, raw, payload, "s3", p.region, time.Now()); err != nil {
		t.Fatal(err)
	}
	return raw
}

func headerLines(header http.Header) []string {
	var lines []string
	for name := range header {
		interesting := slices.Contains([]string{"Etag", "Content-Range", "Cache-Control", "Content-Encoding",
			"X-Amz-Checksum-Crc32", "X-Amz-Checksum-Crc64nvme", "X-Amz-Checksum-Sha256", "X-Amz-Checksum-Type"}, name)
		if interesting || strings.HasPrefix(name, "X-Amz-Meta-") {
			lines = append(lines, name+": "+header.Get(name))
		}
	}
	slices.Sort(lines)
	return lines
}

// xmlLines returns the elements of a body that two servers should agree on,
// one in a line with its parent.
func (p *peer) xmlLines(body []byte) []string {
	var lines, open []string
	decoder := xml.NewDecoder(bytes.NewReader(body))
	text := ""
	for {
		token, err := decoder.Token()
		switch element := token.(type) {
		case xml.StartElement:
			open, text = append(open, element.Name.Local), ""
		case xml.CharData:
			text += string(element)
		case xml.EndElement:
			lines = append(lines, p.element(open, text)...)
			open, text = open[:len(open)-1], ""
		}
		if err == io.EOF {
			return lines
		}
		if err != nil {
			return append(lines, "xml "+err.Error())
		}
	}
}

// element returns the line for an element, if it is one to compare, and keeps
// what later requests need.
func (p *peer) element(open []string, text string) []string {
	name := open[len(open)-1]
	if open[0] == "Error" && name != "Code" {
		return nil
	}
	switch name {
	case "UploadId":
		p.upload = text
	case "NextContinuationToken":
		p.token = text
	case "Code", "Delimiter", "EncodingType", "ETag", "IsTruncated", "Key", "KeyCount", "MaxKeys", "PartNumber",
		"Prefix", "Size", "StartAfter":
		if text == "" {
			return nil // an element may be left out instead
		}
		return []string{strings.Join(open[max(len(open)-2, 0):], "/") + "=" + text}
	}
	return nil
}
