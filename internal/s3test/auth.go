package s3test

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxSkew is how far the time of a signature may be from the server's: S3 has 15
// minutes, too.
const maxSkew = 15 * time.Minute

// authenticate verifies the signature of the request and the body that it
// covers, and decodes the body. Each check has an error of its own, by which a
// client knows whether to correct its clock, its region or its key. Nothing is
// decoded before the signature is right. On a public server a request without
// any is served, and its body is only decoded.
func (s *Server) authenticate(c *call) error {
	if s.opts.Public && c.header("Authorization") == "" && !c.presigned() {
		return c.decode(credential{payload: cmp.Or(c.header("X-Amz-Content-Sha256"), unsignedHash)}, signer{})
	}
	a, err := c.credential()
	if err != nil {
		return err
	}
	if err := s.checkScope(a); err != nil {
		return err
	}
	if err := c.checkSigned(a); err != nil {
		return err
	}
	if err := s.checkTime(a); err != nil {
		return err
	}
	request, err := canonicalRequest(c.r, a.signedHeaders, a.payload)
	if err != nil {
		return invalidURI()
	}
	signer := newSigner(s.SecretAccessKey, a)
	if !equal(signer.sign(algorithm, sha256Hex([]byte(request))), a.signature) {
		return signatureMismatch().with("CanonicalRequest", request)
	}
	return c.decode(a, signer)
}

// checkAccount tests whose the bucket is expected to be, and who pays. A client
// sends the account that it expects so that a bucket which was deleted, and
// created again by somebody else, gets none of its data.
func (s *Server) checkAccount(c *call) error {
	for _, name := range []string{"X-Amz-Expected-Bucket-Owner", "X-Amz-Source-Expected-Bucket-Owner"} {
		if expected := cmp.Or(c.header(name), c.query(strings.ToLower(name))); expected != "" && s.opts.Owner != "" && expected != s.opts.Owner {
			return accessDenied("Access Denied")
		}
	}
	if s.opts.RequesterPays && c.header("X-Amz-Request-Payer") != "requester" && c.query("x-amz-request-payer") != "requester" {
		return accessDenied("Access Denied")
	}
	return nil
}

// equal compares two signatures in constant time.
func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// signatureMismatch is the error of a wrong signature.
func signatureMismatch() *apiError {
	return &apiError{status: http.StatusForbidden, code: "SignatureDoesNotMatch",
		message: "The request signature we calculated does not match the signature you provided. Check your key and signing method."}
}

// checkScope tests for whom, and where, the request is signed. A wrong region
// is answered with the right one, in the body and in a header, from where a
// client can take it.
func (s *Server) checkScope(a credential) error {
	if a.accessKeyID != s.AccessKeyID {
		e := &apiError{status: http.StatusForbidden, code: "InvalidAccessKeyId",
			message: "The AWS Access Key Id you provided does not exist in our records."}
		return e.with("AWSAccessKeyId", a.accessKeyID)
	}
	if a.region != s.Region {
		e := a.malformed("the region '" + a.region + "' is wrong; expecting '" + s.Region + "'")
		e.header = http.Header{"X-Amz-Bucket-Region": {s.Region}}
		return e.with("Region", s.Region)
	}
	return nil
}

// checkSigned refuses headers of S3 that the signature does not cover. Somebody
// on the way could add them to a request that is signed. The hash of the
// payload needs no entry in the list, because it is a line of what is signed.
func (c *call) checkSigned(a credential) error {
	for name := range c.r.Header {
		name = strings.ToLower(name)
		covered := slices.Contains(a.signedHeaders, name)
		if strings.HasPrefix(name, "x-amz-") && name != "x-amz-content-sha256" && !covered {
			return accessDenied("There were headers present in the request which were not signed").
				with("HeadersNotSigned", name)
		}
	}
	return nil
}

// checkTime tests when the request is signed: just now, or in the lifetime of a
// presigned URL. A URL that was signed in advance may be old, and not from the
// future.
func (s *Server) checkTime(a credential) error {
	now := s.opts.Now()
	age := now.Sub(a.time)
	if a.lifetime > 0 && age > a.lifetime {
		return accessDenied("Request has expired")
	}
	if age < -maxSkew || age > maxSkew && a.lifetime == 0 {
		e := &apiError{status: http.StatusForbidden, code: "RequestTimeTooSkewed",
			message: "The difference between the request time and the current time is too large."}
		return e.with("RequestTime", a.time.Format(amzTimeFormat)).with("ServerTime", now.UTC().Format(timeFormat))
	}
	return nil
}

// The fixed texts of Signature Version 4.
const (
	algorithm      = "AWS4-HMAC-SHA256"
	amzTimeFormat  = "20060102T150405Z"
	emptyHash      = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	unsignedHash   = "UNSIGNED-PAYLOAD"
	terminator     = "aws4_request"
	service        = "s3"
	signatureQuery = "X-Amz-Signature"
)

// credential is what a request says about its signature. In the header of a
// request it looks so, on one line:
//
//	AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/20260102/us-east-1/s3/aws4_request,
//	SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=64 hex digits
type credential struct {
	accessKeyID, date, region, service string
	signedHeaders                      []string // lower case
	signature                          string
	time                               time.Time
	lifetime                           time.Duration // of a presigned URL, else zero
	payload                            string        // the hash of the payload that is signed
	malformed                          func(message string) *apiError
}

// scope returns the part of a credential that a signature is valid for.
func (a credential) scope() string {
	return strings.Join([]string{a.date, a.region, a.service, terminator}, "/")
}

// signer makes the signatures of one scope. The chunks of a body are signed
// with the same key as the request, so a signer is made once for each request.
type signer struct {
	key         []byte
	time, scope string
}

// newSigner derives the key that signs, from the secret, the day, the region
// and the service.
func newSigner(secret string, a credential) signer {
	key := []byte("AWS4" + secret)
	for _, part := range []string{a.date, a.region, a.service, terminator} {
		key = keyed(key, part)
	}
	return signer{key: key, time: a.time.Format(amzTimeFormat), scope: a.scope()}
}

// sign signs the parts of a string to sign that follow its scope. For a request
// the text is, with the hash of its canonical form as the only part:
//
//	AWS4-HMAC-SHA256
//	20260102T030405Z
//	20260102/us-east-1/s3/aws4_request
//	e3b0c442...
func (s signer) sign(kind string, parts ...string) string {
	text := strings.Join(append([]string{kind, s.time, s.scope}, parts...), "\n")
	return hex.EncodeToString(keyed(s.key, text))
}

// keyed returns the HMAC of text.
func keyed(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// sha256Hex returns the SHA-256 sum in hexadecimal digits.
func sha256Hex(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// canonicalRequest is the text of r whose hash is signed. S3 encodes the path
// once and keeps its dots and double slashes, unlike the other services of
// Amazon. For a listing, where the empty line ends the headers:
//
//	GET
//	/workspace
//	list-type=2&prefix=a%2F
//	host:127.0.0.1:9000
//	x-amz-date:20260102T030405Z
//
//	host;x-amz-date
//	UNSIGNED-PAYLOAD
func canonicalRequest(r *http.Request, signedHeaders []string, payload string) (string, error) {
	query, err := canonicalQuery(r.URL.RawQuery)
	if err != nil {
		return "", err
	}
	return strings.Join([]string{
		r.Method, percentEncoded(r.URL.Path, "/"), query,
		canonicalHeaders(r, signedHeaders), strings.Join(signedHeaders, ";"), payload,
	}, "\n"), nil
}

// canonicalQuery sorts and re-encodes a query, all but the signature. A
// parameter without a value gets "=". Names are compared after they are
// encoded, as the specification says.
func canonicalQuery(raw string) (string, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return "", err
	}
	var pairs [][2]string
	for name, list := range values {
		for _, value := range list {
			if name != signatureQuery {
				pairs = append(pairs, [2]string{percentEncoded(name, ""), percentEncoded(value, "")})
			}
		}
	}
	slices.SortFunc(pairs, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	encoded := make([]string, len(pairs))
	for i, pair := range pairs {
		encoded[i] = pair[0] + "=" + pair[1]
	}
	return strings.Join(encoded, "&"), nil
}

// canonicalHeaders writes each signed header on a line of its own. Package http
// takes Host out of the headers of a request, so it has a case of its own. Runs
// of spaces become one.
func canonicalHeaders(r *http.Request, names []string) string {
	var b strings.Builder
	for _, name := range names {
		values := slices.Clone(r.Header.Values(name))
		switch name {
		case "host":
			values = []string{r.Host}
		case "content-length":
			values = []string{fmt.Sprint(r.ContentLength)}
		}
		for i, value := range values {
			values[i] = strings.Join(strings.Fields(value), " ")
		}
		b.WriteString(name + ":" + strings.Join(values, ",") + "\n")
	}
	return b.String()
}

// percentEncoded encodes every byte of text that is neither unreserved in a
// URL nor in keep.
func percentEncoded(text, keep string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if c := text[i]; unreserved(c) || strings.IndexByte(keep, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// maxLifetime is how long a presigned URL may be valid: S3 has seven days, too.
const maxLifetime = 7 * 24 * time.Hour

// credential reads the signature of the request, from its header or its query.
func (c *call) credential() (credential, error) {
	if header := c.header("Authorization"); header != "" {
		return c.headerCredential(header)
	}
	if c.presigned() {
		return c.queryCredential()
	}
	return credential{}, accessDenied("Access Denied")
}

// presigned reports whether the request is one of a URL that was signed in
// advance, however malformed.
func (c *call) presigned() bool { return c.has("X-Amz-Algorithm") || c.has(signatureQuery) }

// headerCredential returns the credential and the signature of the
// Authorization header.
func (c *call) headerCredential(header string) (credential, error) {
	kind, rest, _ := strings.Cut(header, " ")
	if kind != algorithm {
		return credential{}, &apiError{status: http.StatusBadRequest, code: "InvalidRequest",
			message: "The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256."}
	}
	fields := map[string]string{}
	for part := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		fields[name] = value
	}
	a, err := parseCredential(fields["Credential"], fields["SignedHeaders"], fields["Signature"], malformedHeader)
	if err != nil {
		return credential{}, err
	}
	a.payload = c.header("X-Amz-Content-Sha256")
	if a.payload == "" {
		return credential{}, invalidRequest("Missing required header for this request: x-amz-content-sha256")
	}
	if a.time, err = c.headerTime(); err != nil {
		return credential{}, err
	}
	return a, a.checkDate()
}

// headerTime returns the time at which a request was signed. X-Amz-Date comes
// first, because an HTTP library may set Date itself after the request was
// signed.
func (c *call) headerTime() (time.Time, error) {
	if t, err := time.Parse(amzTimeFormat, c.header("X-Amz-Date")); err == nil {
		return t, nil
	}
	if t, err := http.ParseTime(c.header("Date")); err == nil {
		return t, nil
	}
	return time.Time{}, accessDenied("AWS authentication requires a valid Date or x-amz-date header")
}

// queryCredential returns the credential and the signature of a URL that was
// signed in advance. The body of such a request is not signed, unless a header
// has its hash.
func (c *call) queryCredential() (credential, error) {
	a, err := parseCredential(c.query("X-Amz-Credential"), c.query("X-Amz-SignedHeaders"), c.query(signatureQuery), malformedQuery)
	if err != nil {
		return credential{}, err
	}
	if a.time, err = time.Parse(amzTimeFormat, c.query("X-Amz-Date")); err != nil || c.query("X-Amz-Algorithm") != algorithm {
		return credential{}, malformedQuery("Query-string authentication version 4 requires the X-Amz-Algorithm, " +
			"X-Amz-Credential, X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.")
	}
	seconds, err := strconv.Atoi(c.query("X-Amz-Expires"))
	a.lifetime = time.Duration(seconds) * time.Second
	if err != nil || seconds < 1 || a.lifetime > maxLifetime {
		return credential{}, malformedQuery("X-Amz-Expires must be between 1 and 604800 seconds")
	}
	a.payload = unsignedHash
	if hash := c.header("X-Amz-Content-Sha256"); hash != "" {
		a.payload = hash
	}
	return a, a.checkDate()
}

// checkDate tests whether the scope has the day on which the request was signed.
// The key is derived from that day, so that it signs nothing on another one.
func (a credential) checkDate() error {
	if day := a.time.UTC().Format("20060102"); a.date != day {
		return a.malformed(fmt.Sprintf("Invalid credential date %q. This date is not the same as X-Amz-Date: %q.", a.date, day))
	}
	return nil
}

// malformedQuery is the error of a signed URL that lacks something.
func malformedQuery(message string) *apiError {
	return &apiError{status: http.StatusBadRequest, code: "AuthorizationQueryParametersError", message: message}
}

// malformedHeader is the error of an Authorization header that lacks
// something.
func malformedHeader(message string) *apiError {
	return &apiError{status: http.StatusBadRequest, code: "AuthorizationHeaderMalformed",
		message: "The authorization header is malformed; " + message}
}

// parseCredential splits a credential into its parts. A request that does not
// sign its host could be sent to another server, so that is malformed, too.
func parseCredential(text, signedHeaders, signature string, malformed func(message string) *apiError) (credential, error) {
	parts := strings.Split(text, "/")
	if len(parts) < 5 || signedHeaders == "" || signature == "" {
		return credential{}, malformed("it needs a Credential of five parts, SignedHeaders and a Signature.")
	}
	last := len(parts) - 4 // an access key may have slashes
	a := credential{
		accessKeyID: strings.Join(parts[:last], "/"), date: parts[last], region: parts[last+1], service: parts[last+2],
		signedHeaders: strings.Split(signedHeaders, ";"), signature: signature, malformed: malformed,
	}
	if a.service != service || parts[last+3] != terminator {
		return credential{}, malformed("the scope must end in s3/aws4_request.")
	}
	if !slices.IsSorted(a.signedHeaders) || !slices.Contains(a.signedHeaders, "host") {
		return credential{}, malformed("SignedHeaders must be sorted and include host.")
	}
	return a, nil
}
