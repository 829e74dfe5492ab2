package s3test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const maxParts = 10000

// upload is a multipart upload that is under way.
type upload struct {
	id        string
	key       string
	initiated time.Time
	header    http.Header
	checksums bool   // whether checksums are asked for
	algorithm string // of the checksums
	kind      string
	parts     []*part // sorted by number

	encryption encryption
}

type part struct {
	number   int
	data     []byte // never changed
	etag     string // with its quotes
	modified time.Time
	checksum checksum
}

func (s *Server) createUpload(c *call) (*answer, error) {
	header, err := c.storedHeader()
	if err != nil {
		return nil, err
	}
	encryption, err := c.encryption()
	if err != nil {
		return nil, err
	}
	u := &upload{key: c.key(), initiated: s.now(), header: header, encryption: encryption}
	u.id = fmt.Sprintf("upload-%016x", s.serial.Add(1))
	if err := u.setChecksum(strings.ToUpper(c.header("X-Amz-Checksum-Algorithm")), c.header("X-Amz-Checksum-Type")); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.writable(c.bucket())
	if err != nil {
		return nil, err
	}
	i, _ := slices.BinarySearchFunc(b.uploads, u.key+"\x00", func(u *upload, key string) int { return strings.Compare(u.key, key) })
	b.uploads = slices.Insert(b.uploads, i, u)
	d := newDocument("InitiateMultipartUploadResult")
	d.text("Bucket", b.name)
	d.text("Key", u.key)
	d.text("UploadId", u.id)
	a := xmlAnswer(d, "InitiateMultipartUploadResult")
	if u.checksums {
		a.header.Set("X-Amz-Checksum-Algorithm", u.algorithm)
		a.header.Set("X-Amz-Checksum-Type", u.kind)
	}
	return a, nil
}

// setChecksum sets the kind of checksum that the object will have: unless it
// is asked for otherwise, one made of those of the parts.
func (u *upload) setChecksum(algorithm, kind string) error {
	u.checksums, u.algorithm, u.kind = algorithm != "", algorithm, kind
	if algorithm == "" {
		u.algorithm = defaultAlgorithm
	}
	if kind == "" {
		u.kind = composite
		if u.algorithm == defaultAlgorithm {
			u.kind = fullObject
		}
	}
	if newHash(u.algorithm) == nil {
		return unsupportedChecksum()
	}
	linear := strings.HasPrefix(u.algorithm, "CRC") // others cannot be combined
	if u.kind == fullObject && !linear || u.kind == composite && u.algorithm == defaultAlgorithm {
		return invalidRequest("The " + u.kind + " checksum type cannot be used with the " + strings.ToLower(u.algorithm) + " checksum algorithm.")
	}
	return nil
}

// upload returns the upload that the request names. The server is locked.
func (s *Server) upload(c *call) (*bucket, *upload, error) {
	b, err := s.writable(c.bucket())
	if err != nil {
		return nil, nil, err
	}
	id := c.query("uploadId")
	for _, u := range b.uploads {
		if u.id == id && u.key == c.key() {
			return b, u, nil
		}
	}
	return nil, nil, noSuchUpload(id)
}

func (b *bucket) forget(u *upload) {
	b.uploads = slices.DeleteFunc(b.uploads, func(other *upload) bool { return other == u })
}

func (s *Server) uploadPart(c *call) (*answer, error) {
	if err := c.checkLength(); err != nil {
		return nil, err
	}
	p, err := s.addPart(c, c.body)
	if err != nil {
		return nil, err
	}
	a := plain(http.StatusOK)
	a.header.Set("ETag", p.etag)
	if given, err := c.givenChecksum(); err == nil && given.algorithm != "" {
		a.header.Set(given.header(), given.value)
	}
	return a, nil
}

// addPart makes data the part that the request names.
func (s *Server) addPart(c *call, data []byte) (*part, error) {
	number, err := strconv.Atoi(c.query("partNumber"))
	if err != nil || number < 1 || number > maxParts {
		return nil, invalidArgument("Part number must be an integer between 1 and 10000, inclusive", "partNumber", c.query("partNumber"))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, u, err := s.upload(c)
	if err != nil {
		return nil, err
	}
	if err := c.checkKey(u.encryption, customerHeader); err != nil {
		return nil, err
	}
	p := &part{number: number, data: data, etag: quoted(md5Hex(data)), modified: s.now(), checksum: checksumOf(u.algorithm, data)}
	i, found := u.position(number)
	if found {
		u.parts[i] = p
	} else {
		u.parts = slices.Insert(u.parts, i, p)
	}
	return p, nil
}

func (u *upload) position(number int) (int, bool) {
	return slices.BinarySearchFunc(u.parts, number, func(p *part, number int) int { return p.number - number })
}

func (s *Server) uploadPartCopy(c *call) (*answer, error) {
	source, err := s.openSource(c)
	if err != nil {
		return nil, err
	}
	data, err := c.sourceRange(source)
	if err != nil {
		return nil, err
	}
	p, err := s.addPart(c, data)
	if err != nil {
		return nil, err
	}
	d := newDocument("CopyPartResult")
	d.time("LastModified", p.modified)
	d.text("ETag", p.etag)
	d.text(p.checksum.element(), p.checksum.value)
	return xmlAnswer(d, "CopyPartResult"), nil
}

// sourceRange returns the bytes of source that a part is made of. Their range
// must be given as first and last, and lie inside.
func (c *call) sourceRange(source *object) ([]byte, error) {
	header := c.header("X-Amz-Copy-Source-Range")
	if header == "" {
		return source.content(), nil
	}
	var first, last int64
	if n, err := fmt.Sscanf(header+"$", "bytes=%d-%d$", &first, &last); n != 2 || err != nil || first < 0 || last < first {
		return nil, invalidArgument("The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the zero-based offsets of the first and last bytes to copy",
			"x-amz-copy-source-range", header)
	}
	if last >= source.size {
		return nil, invalidArgument(fmt.Sprintf("Range specified is not valid for source object of size: %d", source.size),
			"x-amz-copy-source-range", header)
	}
	return source.content()[first : last+1], nil
}

func (s *Server) abortUpload(c *call) (*answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, u, err := s.upload(c)
	if err != nil {
		return nil, err
	}
	b.forget(u)
	return plain(http.StatusNoContent), nil
}
