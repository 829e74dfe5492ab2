package s3test

import (
	"bytes"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
)

const (
	signedChunks        = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
	signedChunksTrailer = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"
	unsignedTrailer     = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
)

// decode makes c.body and c.trailer of what was sent, in the form that the
// signature names.
func (c *call) decode(a credential, sign signer) error {
	switch a.payload {
	case unsignedHash:
		c.body = c.raw
		return nil
	case unsignedTrailer:
		return c.decodeChunks(&chunks{rest: c.raw, hasTrailer: true})
	case signedChunks, signedChunksTrailer:
		return c.decodeChunks(&chunks{rest: c.raw, hasTrailer: a.payload == signedChunksTrailer,
			signer: &sign, previous: a.signature})
	}
	if decoded, err := hex.DecodeString(a.payload); err != nil || len(decoded) != 32 {
		return invalidArgument("x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-AWS4-HMAC-SHA256-PAYLOAD, or a valid sha256 value.",
			"x-amz-content-sha256", a.payload)
	}
	if sum := sha256Hex(c.raw); sum != a.payload {
		e := &apiError{status: http.StatusBadRequest, code: "XAmzContentSHA256Mismatch",
			message: "The provided 'x-amz-content-sha256' header does not match what was computed."}
		return e.with("ClientComputedContentSHA256", a.payload).with("S3ComputedContentSHA256", sum)
	}
	c.body = c.raw
	return nil
}

func (c *call) decodeChunks(body *chunks) error {
	size, err := strconv.ParseInt(c.header("X-Amz-Decoded-Content-Length"), 10, 64)
	if err != nil {
		return &apiError{status: http.StatusLengthRequired, code: "MissingContentLength",
			message: "You must provide the Content-Length HTTP header."}
	}
	if c.body, c.trailer, err = body.decode(); err != nil {
		return err
	}
	if int64(len(c.body)) != size {
		return incompleteBody()
	}
	return nil
}

func incompleteBody() *apiError {
	return &apiError{status: http.StatusBadRequest, code: "IncompleteBody",
		message: "The request body terminated unexpectedly"}
}

// chunks is a body in the encoding aws-chunked.
type chunks struct {
	rest       []byte
	hasTrailer bool
	signer     *signer // nil if the chunks are not signed
	previous   string  // the signature before the next one
}

// decode returns the data and the trailing headers.
func (k *chunks) decode() ([]byte, http.Header, error) {
	var data []byte
	for {
		chunk, err := k.next()
		if err != nil {
			return nil, nil, err
		}
		if len(chunk) == 0 {
			break
		}
		data = append(data, chunk...)
	}
	if !k.hasTrailer {
		return data, nil, nil
	}
	trailer, err := k.trailer()
	return data, trailer, err
}

// next returns the data of one chunk, empty for the last one.
func (k *chunks) next() ([]byte, error) {
	head, ok := k.line()
	if !ok {
		return nil, incompleteBody()
	}
	length, extension, _ := strings.Cut(head, ";")
	size, err := strconv.ParseUint(length, 16, 31)
	if err != nil || int(size) > len(k.rest) {
		return nil, incompleteBody()
	}
	chunk := k.rest[:size]
	k.rest = k.rest[size:]
	if k.signer != nil {
		signature := k.signer.sign(algorithm+"-PAYLOAD", k.previous, emptyHash, sha256Hex(chunk))
		if !equal("chunk-signature="+signature, extension) {
			return nil, signatureMismatch()
		}
		k.previous = signature
	}
	if size == 0 && k.hasTrailer {
		return nil, nil // the trailer follows at once
	}
	if end, ok := k.line(); !ok || end != "" {
		return nil, incompleteBody()
	}
	return chunk, nil
}

// line takes one line off the rest.
func (k *chunks) line() (string, bool) {
	line, rest, ok := bytes.Cut(k.rest, []byte("\r\n"))
	k.rest = rest
	return string(line), ok
}

// trailer returns the headers after the last chunk.
func (k *chunks) trailer() (http.Header, error) {
	header := http.Header{}
	var signed strings.Builder
	for {
		line, ok := k.line()
		if !ok {
			return nil, incompleteBody()
		}
		if line == "" {
			break
		}
		name, value, _ := strings.Cut(line, ":")
		header.Add(name, strings.TrimSpace(value))
		if !strings.EqualFold(name, "x-amz-trailer-signature") {
			signed.WriteString(name + ":" + strings.TrimSpace(value) + "\n")
		}
	}
	if k.signer == nil {
		return header, nil
	}
	signature := k.signer.sign(algorithm+"-TRAILER", k.previous, sha256Hex([]byte(signed.String())))
	if !equal(signature, header.Get("X-Amz-Trailer-Signature")) {
		return nil, signatureMismatch()
	}
	return header, nil
}
