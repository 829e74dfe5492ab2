package s3test

import (
	"bytes"
	"crypto/md5"  // S3 defines ETag and Content-MD5 with it
	"crypto/sha1" // S3 offers it as a checksum
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"net/http"
	"strconv"
	"strings"
)

const (
	// The values of X-Amz-Content-Sha256 for a body in chunks, which a client
	// sends when it cannot read the body twice: once for its hash and once to
	// send it.
	signedChunks        = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
	signedChunksTrailer = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"
	unsignedTrailer     = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
)

// decode makes c.body and c.trailer of what was sent, in the form that the
// signature names.
//
// The other forms are UNSIGNED-PAYLOAD and the hash of the whole body. c.body
// shares the memory of c.raw where the body is not in chunks.
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

// decodeChunks decodes a body in chunks and checks its length. The length is
// what Content-Length would say of the data; the length of the request counts
// the lines between the chunks.
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

// incompleteBody is the error of a body that is shorter than its length.
func incompleteBody() *apiError {
	return &apiError{status: http.StatusBadRequest, code: "IncompleteBody",
		message: "The request body terminated unexpectedly"}
}

// chunks is a body in the encoding aws-chunked. Each chunk begins with its
// length in hexadecimal digits, and the last one is empty. Here with
// signatures, and with a trailer:
//
//	400;chunk-signature=ad80...\r\n
//	1,024 bytes\r\n
//	0;chunk-signature=b6c6...\r\n
//	x-amz-checksum-crc32c:sOO8/Q==\r\n
//	x-amz-trailer-signature:d81f...\r\n
//	\r\n
//
// A signature covers the one before it, and the first covers that in the
// Authorization header. So no chunk can be left out, repeated or moved to
// another request.
type chunks struct {
	rest       []byte
	hasTrailer bool
	signer     *signer // nil if the chunks are not signed
	previous   string  // the signature before the next one
}

// decode returns the data and the trailing headers. The data is a copy. What
// follows the last line is ignored.
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

// next returns the data of one chunk, empty for the last one. The chunk is part
// of the body as sent. A length that is more than there is, or needs more than
// 31 bits, is answered as a body that was cut.
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

// line takes one line off the rest. It reports false if no line ends; the rest
// is then empty.
func (k *chunks) line() (string, bool) {
	line, rest, ok := bytes.Cut(k.rest, []byte("\r\n"))
	k.rest = rest
	return string(line), ok
}

// trailer returns the headers after the last chunk. All lines but the signature
// are signed, as they were sent, but for spaces around a value.
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

const (
	checksumPrefix   = "x-amz-checksum-"
	defaultAlgorithm = "CRC64NVME"
	fullObject       = "FULL_OBJECT"
	composite        = "COMPOSITE"

	nvmePolynomial = 0x9a6c9329ac4bc9b5 // reflected, as hash/crc64 wants it
)

// checksum is the additional checksum of an object or a part.
type checksum struct {
	algorithm string // in capitals
	value     string // base64, with "-N" if it is one of the checksums of N parts
	kind      string
}

// newHash returns the hash that S3 calls algorithm, nil for none. The name may
// be in small letters.
func newHash(algorithm string) hash.Hash {
	switch strings.ToUpper(algorithm) {
	case "CRC32":
		return crc32.NewIEEE()
	case "CRC32C":
		return crc32.New(crc32.MakeTable(crc32.Castagnoli))
	case "CRC64NVME":
		return crc64.New(crc64.MakeTable(nvmePolynomial))
	case "SHA1":
		return sha1.New()
	case "SHA256":
		return sha256.New()
	case "SHA512":
		return sha512.New()
	}
	return nil
}

// checksumOf returns the checksum of data. The algorithm has a hash.
func checksumOf(algorithm string, data []byte) checksum {
	h := newHash(algorithm)
	h.Write(data)
	return checksum{algorithm: algorithm, value: base64.StdEncoding.EncodeToString(h.Sum(nil)), kind: fullObject}
}

// header returns the header that carries the checksum.
func (k checksum) header() string { return http.CanonicalHeaderKey(checksumPrefix + k.algorithm) }

// element is the name that the checksum has in XML.
func (k checksum) element() string { return "Checksum" + k.algorithm }

// put adds the checksum to the headers of an answer.
func (k checksum) put(header http.Header) {
	header.Set(k.header(), k.value)
	header.Set("X-Amz-Checksum-Type", k.kind)
}

// unsupportedChecksum is the error of an unknown algorithm.
func unsupportedChecksum() *apiError {
	return invalidRequest("Checksum algorithm provided is unsupported. Please try again with any of the valid types: " +
		"[CRC32, CRC32C, CRC64NVME, SHA1, SHA256, SHA512]")
}

// md5Hex returns the MD5 sum in hexadecimal digits, which is the ETag of a
// plain object.
func md5Hex(data []byte) string {
	sum := md5.Sum(data)
	return hex.EncodeToString(sum[:])
}

// verifyDigests compares the body with the digests that the request gives of
// it, in headers or trailers. A body that was damaged on the way is thus
// refused before it replaces anything.
func (c *call) verifyDigests() error {
	if c.request.Op == "CompleteMultipartUpload" {
		return nil // its checksum is the object's
	}
	if err := c.verifyMD5(); err != nil {
		return err
	}
	given, err := c.givenChecksum()
	if err != nil || given.algorithm == "" {
		return err
	}
	if checksumOf(given.algorithm, c.body).value != given.value {
		return badDigest("The " + given.algorithm + " you specified did not match the calculated checksum.")
	}
	return nil
}

// verifyMD5 compares the content with the Content-MD5 header.
func (c *call) verifyMD5() error {
	given := c.header("Content-Md5")
	if given == "" {
		return nil
	}
	want, err := base64.StdEncoding.DecodeString(given)
	if err != nil || len(want) != md5.Size {
		return &apiError{status: http.StatusBadRequest, code: "InvalidDigest", message: "The Content-MD5 you specified was invalid."}
	}
	if md5Hex(c.body) != hex.EncodeToString(want) {
		return badDigest("The Content-MD5 you specified did not match what we received.")
	}
	return nil
}

// givenChecksum returns the checksum that the request gives, the zero checksum
// if it gives none. Two are an error even if both are right, as on Amazon.
func (c *call) givenChecksum() (checksum, error) {
	var given checksum
	for _, header := range []http.Header{c.r.Header, c.trailer} {
		for name, values := range header {
			algorithm, ok := strings.CutPrefix(strings.ToUpper(name), strings.ToUpper(checksumPrefix))
			if !ok || newHash(algorithm) == nil {
				continue
			}
			if given.algorithm != "" {
				return checksum{}, invalidRequest("Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.")
			}
			given = checksum{algorithm: algorithm, value: values[0], kind: fullObject}
		}
	}
	return given, c.checkGiven(given)
}

// checkGiven refuses a checksum that cannot be one, and one that is announced
// and missing. A trailer can be missing because a proxy dropped it, and the
// upload would then go unverified though the client asked for the opposite.
func (c *call) checkGiven(given checksum) error {
	if given.algorithm != "" {
		value, err := base64.StdEncoding.DecodeString(given.value)
		if err != nil || len(value) != newHash(given.algorithm).Size() {
			return invalidRequest("Value for " + strings.ToLower(given.header()) + " header is invalid.")
		}
		return nil
	}
	if announced := c.header("X-Amz-Trailer"); announced != "" {
		return &apiError{status: http.StatusBadRequest, code: "MalformedTrailerError",
			message: "The request contained trailing data that was not well-formed or did not conform to our published schema."}
	}
	if c.header("X-Amz-Sdk-Checksum-Algorithm") != "" && (c.request.Op == "PutObject" || c.request.Op == "UploadPart") {
		return invalidRequest("x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or x-amz-trailer headers were found.")
	}
	return nil
}
