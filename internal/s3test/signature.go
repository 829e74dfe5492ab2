package s3test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	algorithm      = "AWS4-HMAC-SHA256"
	amzTimeFormat  = "20060102T150405Z"
	emptyHash      = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	unsignedHash   = "UNSIGNED-PAYLOAD"
	terminator     = "aws4_request"
	service        = "s3"
	signatureQuery = "X-Amz-Signature"
)

// credential is what a request says about its signature.
type credential struct {
	accessKeyID, date, region, service string
	signedHeaders                      []string // lower case
	signature                          string
	time                               time.Time
	lifetime                           time.Duration // of a presigned URL, else zero
	payload                            string        // the hash of the payload that is signed
}

func (a credential) scope() string {
	return strings.Join([]string{a.date, a.region, a.service, terminator}, "/")
}

// signer makes the signatures of one scope.
type signer struct {
	key         []byte
	time, scope string
}

func newSigner(secret string, a credential) signer {
	key := []byte("AWS4" + secret)
	for _, part := range []string{a.date, a.region, a.service, terminator} {
		key = keyed(key, part)
	}
	return signer{key: key, time: a.time.Format(amzTimeFormat), scope: a.scope()}
}

// sign signs the parts of a string to sign that follow its scope.
func (s signer) sign(kind string, parts ...string) string {
	text := strings.Join(append([]string{kind, s.time, s.scope}, parts...), "\n")
	return hex.EncodeToString(keyed(s.key, text))
}

func keyed(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func sha256Hex(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// canonicalRequest is the text of r whose hash is signed.
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

// canonicalQuery sorts and re-encodes a query, all but the signature.
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

// canonicalHeaders writes each signed header on a line of its own.
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
