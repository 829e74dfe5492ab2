package s3test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const maxLifetime = 7 * 24 * time.Hour

// credential reads the signature of the request, from its header or its query.
func (c *call) credential() (credential, error) {
	if header := c.header("Authorization"); header != "" {
		return c.headerCredential(header)
	}
	if c.has("X-Amz-Algorithm") || c.has(signatureQuery) {
		return c.queryCredential()
	}
	return credential{}, accessDenied("Access Denied")
}

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
	a, err := parseCredential(fields["Credential"], fields["SignedHeaders"], fields["Signature"])
	if err != nil {
		return credential{}, err
	}
	a.payload = c.header("X-Amz-Content-Sha256")
	if a.payload == "" {
		return credential{}, invalidRequest("Missing required header for this request: x-amz-content-sha256")
	}
	a.time, err = c.headerTime()
	return a, err
}

func (c *call) headerTime() (time.Time, error) {
	if t, err := time.Parse(amzTimeFormat, c.header("X-Amz-Date")); err == nil {
		return t, nil
	}
	if t, err := http.ParseTime(c.header("Date")); err == nil {
		return t, nil
	}
	return time.Time{}, accessDenied("AWS authentication requires a valid Date or x-amz-date header")
}

func (c *call) queryCredential() (credential, error) {
	a, err := parseCredential(c.query("X-Amz-Credential"), c.query("X-Amz-SignedHeaders"), c.query(signatureQuery))
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
	return a, nil
}

func malformedQuery(message string) *apiError {
	return &apiError{status: http.StatusBadRequest, code: "AuthorizationQueryParametersError", message: message}
}

func malformedHeader(message string) *apiError {
	return &apiError{status: http.StatusBadRequest, code: "AuthorizationHeaderMalformed", message: message}
}

func parseCredential(text, signedHeaders, signature string) (credential, error) {
	parts := strings.Split(text, "/")
	if len(parts) < 5 || signedHeaders == "" || signature == "" {
		return credential{}, malformedHeader("The authorization header is malformed; it needs a Credential of five parts, SignedHeaders and a Signature.")
	}
	last := len(parts) - 4 // an access key may have slashes
	a := credential{
		accessKeyID: strings.Join(parts[:last], "/"), date: parts[last], region: parts[last+1], service: parts[last+2],
		signedHeaders: strings.Split(signedHeaders, ";"), signature: signature,
	}
	if a.service != service || parts[last+3] != terminator {
		return credential{}, malformedHeader("The authorization header is malformed; the scope must end in s3/aws4_request.")
	}
	if !slices.IsSorted(a.signedHeaders) || !slices.Contains(a.signedHeaders, "host") {
		return credential{}, malformedHeader("The authorization header is malformed; SignedHeaders must be sorted and include host.")
	}
	return a, nil
}
