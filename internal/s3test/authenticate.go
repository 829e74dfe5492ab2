package s3test

import (
	"cmp"
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"
	"time"
)

const maxSkew = 15 * time.Minute

// authenticate verifies the signature of the request and the body that it
// covers, and decodes the body.
func (s *Server) authenticate(c *call) error {
	a, err := c.credential()
	if err != nil && s.opts.Public && c.header("Authorization") == "" {
		return c.decode(credential{payload: cmp.Or(c.header("X-Amz-Content-Sha256"), unsignedHash)}, signer{})
	}
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

// checkAccount tests whose the bucket is expected to be, and who pays.
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

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

func signatureMismatch() *apiError {
	return &apiError{status: http.StatusForbidden, code: "SignatureDoesNotMatch",
		message: "The request signature we calculated does not match the signature you provided. Check your key and signing method."}
}

// checkScope tests for whom, and where, the request is signed.
func (s *Server) checkScope(a credential) error {
	if a.accessKeyID != s.AccessKeyID {
		e := &apiError{status: http.StatusForbidden, code: "InvalidAccessKeyId",
			message: "The AWS Access Key Id you provided does not exist in our records."}
		return e.with("AWSAccessKeyId", a.accessKeyID)
	}
	if a.region != s.Region {
		e := malformedHeader("The authorization header is malformed; the region '" + a.region +
			"' is wrong; expecting '" + s.Region + "'")
		e.header = http.Header{"X-Amz-Bucket-Region": {s.Region}}
		return e.with("Region", s.Region)
	}
	return nil
}

// checkSigned refuses headers of S3 that the signature does not cover.
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

// checkTime tests when the request is signed: just now, or in the lifetime of
// a presigned URL.
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
