package s3test_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/workspacekit/workspacekit/internal/s3test"
)

func hexSHA256(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// attempt is a request to PUT "hello" to workspace/a, as it is signed and sent.
type attempt struct {
	id, secret, region string
	time               time.Time
	request            *http.Request
	payload            string
}

func newAttempt(t *testing.T, server *s3test.Server) *attempt {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, server.URL+"/"+bucket+"/a?x=1", strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Amz-Meta-M", "1")
	return &attempt{server.AccessKeyID, server.SecretAccessKey, server.Region, time.Now(), r, hexSHA256("hello")}
}

func (a *attempt) sign(t *testing.T) {
	t.Helper()
	a.request.Header.Set("X-Amz-Content-Sha256", a.payload)
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	err := signer.SignHTTP(t.Context(), aws.Credentials{AccessKeyID: a.id, SecretAccessKey: a.secret}, a.request, a.payload, "s3", a.region, a.time)
	if err != nil {
		t.Fatal(err)
	}
}

// send returns the status and the code of the error that r is answered with.
func send(t *testing.T, r *http.Request) string {
	t.Helper()
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ Code, Region string }
	if response.StatusCode >= 300 && xml.Unmarshal(body, &answer) != nil {
		t.Fatalf("the answer is no error: %q", body)
	}
	return strings.TrimSpace(fmt.Sprint(response.StatusCode, " ", answer.Code, " ", answer.Region))
}

func TestSignature(t *testing.T) {
	server := s3test.New(t, &s3test.Options{Region: "eu-west-1"})
	const mismatch = "403 SignatureDoesNotMatch"
	for _, test := range []struct {
		name, want    string
		before, after func(*attempt) // the request is signed
	}{
		{"right", "200", nil, nil},
		{"changed-header", mismatch, nil, func(a *attempt) { a.request.Header.Set("X-Amz-Meta-M", "2") }},
		{"added-header", "403 AccessDenied", nil, func(a *attempt) { a.request.Header.Set("X-Amz-Meta-N", "2") }},
		{"removed-header", mismatch, nil, func(a *attempt) { a.request.Header.Del("X-Amz-Meta-M") }},
		{"changed-query", mismatch, nil, func(a *attempt) { a.request.URL.RawQuery = "x=2" }},
		{"added-query", mismatch, nil, func(a *attempt) { a.request.URL.RawQuery += "&y=1" }},
		{"changed-path", mismatch, nil, func(a *attempt) { a.request.URL.Path = "/" + bucket + "/b" }},
		{"changed-method", mismatch, nil, func(a *attempt) { a.request.Method = http.MethodPost }},
		{"changed-host", mismatch, nil, func(a *attempt) { a.request.Host = "localhost" }},
		{"changed-body", "400 XAmzContentSHA256Mismatch", nil, func(a *attempt) { a.request.Body = io.NopCloser(strings.NewReader("jello")) }},
		{"changed-hash", mismatch, nil, func(a *attempt) {
			a.request.Body = io.NopCloser(strings.NewReader("jello"))
			a.request.Header.Set("X-Amz-Content-Sha256", hexSHA256("jello"))
		}},
		{"changed-time", mismatch, nil, func(a *attempt) {
			other := a.time.Truncate(time.Minute).Add(time.Duration((a.time.Second()+30)%60) * time.Second)
			a.request.Header.Set("X-Amz-Date", other.UTC().Format("20060102T150405Z"))
		}},
		{"changed-date", "400 AuthorizationHeaderMalformed", nil, func(a *attempt) {
			a.request.Header.Set("X-Amz-Date", a.time.AddDate(0, 0, 1).UTC().Format("20060102T150405Z"))
		}},
		{"wrong-secret", mismatch, func(a *attempt) { a.secret = "other" }, nil},
		{"wrong-id", "403 InvalidAccessKeyId", func(a *attempt) { a.id = "other" }, nil},
		{"wrong-region", "400 AuthorizationHeaderMalformed eu-west-1", func(a *attempt) { a.region = "us-east-1" }, nil},
		{"nearly-old", "200", func(a *attempt) { a.time = a.time.Add(-14 * time.Minute) }, nil},
		{"old", "403 RequestTimeTooSkewed", func(a *attempt) { a.time = a.time.Add(-16 * time.Minute) }, nil},
		{"early", "403 RequestTimeTooSkewed", func(a *attempt) { a.time = a.time.Add(16 * time.Minute) }, nil},
		{"none", "403 AccessDenied", nil, func(a *attempt) { a.request.Header.Del("Authorization") }},
		{"other-kind", "400 InvalidRequest", nil, func(a *attempt) { a.request.Header.Set("Authorization", "Basic eA==") }},
		{"malformed", "400 AuthorizationHeaderMalformed", nil, func(a *attempt) { a.request.Header.Set("Authorization", "AWS4-HMAC-SHA256 x") }},
		{"no-hash", "400 InvalidRequest", nil, func(a *attempt) { a.request.Header.Del("X-Amz-Content-Sha256") }},
		{"unsigned-payload", "200", func(a *attempt) { a.payload = "UNSIGNED-PAYLOAD" }, nil},
		{"odd-payload", "400 InvalidArgument", func(a *attempt) { a.payload = "SIGNED" }, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := newAttempt(t, server)
			if test.before != nil {
				test.before(a)
			}
			a.sign(t)
			if test.after != nil {
				test.after(a)
			}
			if got := send(t, a.request); got != test.want {
				t.Errorf("the answer is %q, want %q", got, test.want)
			}
		})
	}
}

func TestPresigned(t *testing.T) {
	for _, public := range []bool{false, true} {
		t.Run(fmt.Sprintf("public=%t", public), func(t *testing.T) { testPresigned(t, public) })
	}
}

// testPresigned sends presigned URLs. A public server checks the signature of a request that has
// one, too.
func testPresigned(t *testing.T, public bool) {
	now := time.Now()
	server, client := start(t, s3test.Options{Now: func() time.Time { return now }, Public: public})
	unsigned := map[bool]string{false: "403 AccessDenied", true: "200"}[public]
	put(t, client, "a b", "hello")
	presigned, err := s3.NewPresignClient(client).PresignGetObject(t.Context(),
		&s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String("a b")}, s3.WithPresignExpires(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	replaced := func(old, text string) string {
		t.Helper()
		url := strings.Replace(presigned.URL, old, text, 1)
		if url == presigned.URL {
			t.Fatalf("%s has no %q", url, old)
		}
		return url
	}
	plain, _, _ := strings.Cut(presigned.URL, "?")
	const malformed = "400 AuthorizationQueryParametersError"
	for _, test := range []struct {
		name, url, want string
		later           time.Duration
	}{
		{"right", presigned.URL, "200", 0},
		{"within-its-life", presigned.URL, "200", 59 * time.Minute},
		{"expired", presigned.URL, "403 AccessDenied", 61 * time.Minute},
		{"longer-life", replaced("X-Amz-Expires=3600", "X-Amz-Expires=7200"), "403 SignatureDoesNotMatch", 0},
		{"too-long-life", replaced("X-Amz-Expires=3600", "X-Amz-Expires=700000"), malformed, 0},
		{"no-life", replaced("X-Amz-Expires=3600&", ""), malformed, 0},
		{"no-algorithm", replaced("X-Amz-Algorithm=AWS4-HMAC-SHA256&", ""), malformed, 0},
		{"other-algorithm", replaced("AWS4-HMAC-SHA256", "AWS4-HMAC-SHA1"), malformed, 0},
		{"no-signature", replaced("X-Amz-Signature=", "X-Other="), malformed, 0},
		{"no-credential", replaced("X-Amz-Credential=", "X-Other="), malformed, 0},
		{"no-host", replaced("X-Amz-SignedHeaders=host", "X-Amz-SignedHeaders=date"), malformed, 0},
		{"other-service", replaced("%2Fs3%2F", "%2Fec2%2F"), malformed, 0},
		{"other-region", replaced("%2F"+server.Region+"%2F", "%2Fother%2F"), malformed + " " + server.Region, 0},
		{"other-date", replaced("X-Amz-Date=2", "X-Amz-Date=1"), malformed, 0},
		{"no-query", plain, unsigned, 0},
		{"other-key", replaced("a%20b", "a%20c"), "403 SignatureDoesNotMatch", 0},
		{"added-query", presigned.URL + "&response-content-type=text/html", "403 SignatureDoesNotMatch", 0},
	} {
		now = time.Now().Add(test.later)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, test.url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if got := send(t, r); got != test.want {
			t.Errorf("%s: the answer is %q, want %q", test.name, got, test.want)
		}
	}
	if got := server.Requests()[1].Op; got != "GetObject" {
		t.Errorf("the request is logged as %q", got)
	}
}

// chunked is a body whose chunks are signed one after the other.
type chunked struct {
	key         []byte
	date, scope string
	previous    string
	body        bytes.Buffer
}

func keyed(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	io.WriteString(h, text)
	return h.Sum(nil)
}

// newChunked begins the body of a, which is signed.
func newChunked(a *attempt) *chunked {
	authorization := a.request.Header.Get("Authorization")
	_, signature, _ := strings.Cut(authorization, "Signature=")
	c := &chunked{date: a.request.Header.Get("X-Amz-Date"), previous: signature}
	day := c.date[:8]
	c.scope = day + "/" + a.region + "/s3/aws4_request"
	c.key = keyed(keyed(keyed(keyed([]byte("AWS4"+a.secret), day), a.region), "s3"), "aws4_request")
	return c
}

func (c *chunked) sign(kind string, parts ...string) string {
	text := strings.Join(append([]string{kind, c.date, c.scope, c.previous}, parts...), "\n")
	c.previous = hex.EncodeToString(keyed(c.key, text))
	return c.previous
}

func (c *chunked) add(text string) {
	fmt.Fprintf(&c.body, "%x;chunk-signature=%s\r\n", len(text), c.sign("AWS4-HMAC-SHA256-PAYLOAD", hexSHA256(""), hexSHA256(text)))
	if text != "" {
		c.body.WriteString(text + "\r\n")
	}
}

// end ends the body, with a trailer unless it is empty.
func (c *chunked) end(trailer string) {
	c.add("")
	if trailer != "" {
		c.body.WriteString(trailer + "\r\nx-amz-trailer-signature:" + c.sign("AWS4-HMAC-SHA256-TRAILER", hexSHA256(trailer+"\n")) + "\r\n")
	}
	c.body.WriteString("\r\n")
}

func TestSignedChunks(t *testing.T) {
	server := s3test.New(t, nil)
	const crc = "x-amz-checksum-crc32:NhCmhg=="
	for _, test := range []struct {
		name, trailer, old, new, want string
	}{
		{"plain", "", "", "", "200"},
		{"changed-chunk", "", "hel\r\n", "jel\r\n", "403 SignatureDoesNotMatch"},
		{"changed-last-chunk", "", "lo\r\n", "la\r\n", "403 SignatureDoesNotMatch"},
		{"cut", "", "\r\n\r\n", "", "400 IncompleteBody"},
		{"malformed-size", "", "3;", "z;", "400 IncompleteBody"},
		{"large-size", "", "3;", "3ffffff;", "400 IncompleteBody"},
		{"trailer", crc, "", "", "200"},
		{"changed-trailer", crc, crc, "x-amz-checksum-crc32:AAAAAA==", "403 SignatureDoesNotMatch"},
		{"wrong-trailer", "x-amz-checksum-crc32:AAAAAA==", "", "", "400 BadDigest"},
		{"missing-trailer", "x-other:1", "", "", "400 MalformedTrailerError"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := newAttempt(t, server)
			a.payload = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
			a.request.Header.Set("X-Amz-Decoded-Content-Length", "5")
			if test.trailer != "" {
				a.payload += "-TRAILER"
				a.request.Header.Set("X-Amz-Trailer", "x-amz-checksum-crc32")
			}
			a.request.ContentLength = -1
			a.sign(t)
			c := newChunked(a)
			c.add("hel")
			c.add("lo")
			c.end(test.trailer)
			body := strings.Replace(c.body.String(), test.old, test.new, 1)
			a.request.Body = io.NopCloser(strings.NewReader(body))
			if got := send(t, a.request); got != test.want {
				t.Errorf("the answer is %q, want %q", got, test.want)
			}
			if data, _ := server.Get(bucket, "a"); test.want == "200" && string(data) != "hello" {
				t.Errorf("the object is %q, want hello", data)
			}
			server.Delete(bucket, "a")
		})
	}
}

// TestDecodedLength sends a body that is shorter than it says.
func TestDecodedLength(t *testing.T) {
	a := newAttempt(t, s3test.New(t, nil))
	a.payload = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
	a.request.Header.Set("X-Amz-Decoded-Content-Length", "6")
	a.request.ContentLength = -1
	a.sign(t)
	c := newChunked(a)
	c.add("hello")
	c.end("")
	a.request.Body = io.NopCloser(&c.body)
	if got := send(t, a.request); got != "400 IncompleteBody" {
		t.Errorf("the answer is %q, want 400 IncompleteBody", got)
	}
}

// TestLength sends a body without saying how long it is.
func TestLength(t *testing.T) {
	server := s3test.New(t, nil)
	a := newAttempt(t, server)
	a.request.ContentLength = -1
	a.sign(t)
	if got := send(t, a.request); got != "501 NotImplemented" {
		t.Errorf("the answer is %q, want 501 NotImplemented", got)
	}
}

// TestVirtualHost names the bucket in the host.
func TestVirtualHost(t *testing.T) {
	server := s3test.New(t, &s3test.Options{TLS: true})
	server.Put(bucket, "/a", []byte("hello"))
	client := s3.New(s3.Options{
		BaseEndpoint: aws.String("https://example.com"), Region: server.Region, HTTPClient: dialer(server),
		Credentials: credentials(server.AccessKeyID, server.SecretAccessKey),
	})
	if got := get(t, client, "/a"); got != "hello" {
		t.Errorf("GetObject = %q, want hello", got)
	}
	if host := server.Requests()[0].Bucket; host != bucket {
		t.Errorf("the bucket is %q", host)
	}
}

// dialer returns a client that finds server behind every host.
func dialer(server *s3test.Server) *http.Client {
	transport := server.Client().Transport.(*http.Transport).Clone()
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, _ string) (conn net.Conn, err error) {
		return dial(ctx, network, strings.TrimPrefix(server.URL, "https://"))
	}
	return &http.Client{Transport: transport}
}
