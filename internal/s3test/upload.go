package s3test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxParts is the largest number of a part, and so the most parts that an
// upload has.
const maxParts = 10000

// upload is a multipart upload that is under way. The object appears when the
// upload is completed, all at once: until then reads and listings show what the
// key held before.
type upload struct {
	id        string
	key       string
	initiated time.Time
	header    http.Header // that the object gets
	checksums bool        // whether checksums are asked for
	algorithm string      // of the checksums
	kind      string      // of the checksum: of the whole object, or of the parts' checksums
	parts     []*part     // sorted by number

	encryption encryption
}

// part is a part of an upload. It is never changed: a part that is uploaded
// again is another one with the same number.
type part struct {
	number   int
	data     []byte // never changed
	etag     string // with its quotes
	modified time.Time
	checksum checksum
}

// createUpload answers CreateMultipartUpload. Conditions count when the upload
// is completed, not here. The search for the key and a zero byte finds the
// place after all uploads of that key, so they stay in the order in which they
// were begun.
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

// setChecksum sets the kind of checksum that the object will have: unless it is
// asked for otherwise, one made of those of the parts. Checksums of type CRC
// are linear: S3 combines those of the parts into one of the whole, without
// reading the content. With SHA that is impossible, so the object gets the hash
// of the parts' hashes.
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

// upload returns the upload that the request names. The server is locked. The
// id alone is not enough: it must be of that bucket and key.
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

// noSuchUpload is the error of an upload that was completed or aborted, or
// never began.
func noSuchUpload(id string) *apiError {
	e := &apiError{status: http.StatusNotFound, code: "NoSuchUpload",
		message: "The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed."}
	return e.with("UploadId", id)
}

// forget removes an upload.
func (b *bucket) forget(u *upload) {
	b.uploads = slices.DeleteFunc(b.uploads, func(other *upload) bool { return other == u })
}

// uploadPart answers UploadPart.
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

// addPart makes data the part that the request names. A number that exists
// already gets the new data, so a client may repeat a request whose answer it
// lost. data is kept.
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

// position returns the place of a part in the order of numbers, and whether it
// is there. If it is not there, that is where it would be inserted.
func (u *upload) position(number int) (int, bool) {
	return slices.BinarySearchFunc(u.parts, number, func(p *part, number int) int { return p.number - number })
}

// uploadPartCopy answers UploadPartCopy.
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
// must be given as first and last, and lie inside. Unlike a read, which takes
// what there is, a copy of too much is refused. The dollar signs make
// [fmt.Sscanf] refuse text after the range.
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

// abortUpload answers AbortMultipartUpload. The second of two requests has the
// error NoSuchUpload: a client that lost the first answer must accept that.
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

// listUploads answers with the open uploads. A page ends with the markers of
// its last upload, key and id together, because one key can have more uploads
// than a page.
func (s *Server) listUploads(c *call) (*answer, error) {
	encode, err := s.encoding(c)
	if err != nil {
		return nil, err
	}
	limit, err := c.limit("max-uploads")
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.writable(c.bucket())
	if err != nil {
		return nil, err
	}
	found := c.openUploads(b)
	d := newDocument("ListMultipartUploadsResult")
	d.text("Bucket", b.name)
	d.key("KeyMarker", c.query("key-marker"), encode)
	d.text("UploadIdMarker", c.query("upload-id-marker"))
	d.key("Prefix", c.query("prefix"), encode)
	if encode != nil {
		d.text("EncodingType", "url")
	}
	d.number("MaxUploads", int64(limit))
	d.truth("IsTruncated", len(found) > limit)
	if len(found) > limit && limit > 0 {
		d.key("NextKeyMarker", found[limit-1].key, encode)
		d.text("NextUploadIdMarker", found[limit-1].id)
	}
	for _, u := range found[:min(limit, len(found))] {
		d.upload(u, encode)
	}
	return xmlAnswer(d, "ListMultipartUploadsResult"), nil
}

// upload adds an upload of a listing.
func (d *document) upload(u *upload, encode func(string) string) {
	d.open("Upload")
	d.key("Key", u.key, encode)
	d.text("UploadId", u.id)
	d.owner("Initiator")
	d.owner("Owner")
	d.text("StorageClass", "STANDARD")
	d.time("Initiated", u.initiated)
	d.close("Upload")
}

// openUploads returns the uploads that the request asks for. Those of one key
// are in the order of their ids, which is that of their beginning. A key-marker
// without an id skips all uploads of that key.
func (c *call) openUploads(b *bucket) []*upload {
	key, id := c.query("key-marker"), c.query("upload-id-marker")
	var found []*upload
	for _, u := range b.uploads {
		behind := u.key > key || id != "" && u.key == key && u.id > id
		if behind && strings.HasPrefix(u.key, c.query("prefix")) {
			found = append(found, u)
		}
	}
	return found
}

// listParts answers ListParts.
func (s *Server) listParts(c *call) (*answer, error) {
	limit, err := c.limit("max-parts")
	if err != nil {
		return nil, err
	}
	marker, _ := strconv.Atoi(c.query("part-number-marker"))
	s.mu.Lock()
	defer s.mu.Unlock()
	b, u, err := s.upload(c)
	if err != nil {
		return nil, err
	}
	start, _ := u.position(marker + 1)
	rest := u.parts[start:]
	parts := rest[:min(limit, len(rest))]
	d := newDocument("ListPartsResult")
	d.text("Bucket", b.name)
	d.text("Key", u.key)
	d.text("UploadId", u.id)
	d.owner("Initiator")
	d.owner("Owner")
	d.text("StorageClass", "STANDARD")
	d.number("PartNumberMarker", int64(marker))
	d.number("MaxParts", int64(limit))
	d.truth("IsTruncated", len(rest) > len(parts))
	d.text("ChecksumAlgorithm", u.algorithm)
	d.text("ChecksumType", u.kind)
	for _, p := range parts {
		d.part(p)
		marker = p.number
	}
	d.number("NextPartNumberMarker", int64(marker))
	return xmlAnswer(d, "ListPartsResult"), nil
}

// part adds a part of a listing.
func (d *document) part(p *part) {
	d.open("Part")
	d.number("PartNumber", int64(p.number))
	d.time("LastModified", p.modified)
	d.text("ETag", p.etag)
	d.text(p.checksum.element(), p.checksum.value)
	d.number("Size", int64(len(p.data)))
	d.close("Part")
}

// completion is an upload that has been completed. Completing it again is
// answered as the first time: the client may not have seen that. It is kept as
// long as the server runs.
type completion struct{ bucket, key, answer string }

// partList is the body of CompleteMultipartUpload.
type partList struct {
	XMLName xml.Name     `xml:"CompleteMultipartUpload"`
	Parts   []listedPart `xml:"Part"`
}

// listedPart is a part as the client knows it. Other has its checksums, in
// elements such as ChecksumCRC32C.
type listedPart struct {
	PartNumber int
	ETag       string
	Other      []struct {
		XMLName xml.Name
		Value   string `xml:",chardata"`
	} `xml:",any"`
}

// is reports whether p has the ETag and the checksums that are listed. An
// element that is no known checksum makes it false.
func (l listedPart) is(p *part) bool {
	for _, element := range l.Other {
		algorithm, ok := strings.CutPrefix(element.XMLName.Local, "Checksum")
		if !ok || newHash(algorithm) == nil || checksumOf(algorithm, p.data).value != element.Value {
			return false
		}
	}
	return strings.Trim(l.ETag, `"`) == strings.Trim(p.etag, `"`)
}

// completeUpload answers CompleteMultipartUpload.
//
// The conditions are tested, the object stored and the upload forgotten under
// one lock: of two clients that complete uploads of one key with the same
// condition, one wins. After an error the upload is still there, for another
// try or an abort.
func (s *Server) completeUpload(c *call) (*answer, error) {
	var list partList
	if err := xml.Unmarshal(c.body, &list); err != nil || len(list.Parts) == 0 {
		return nil, malformedXML()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.completedBefore(c); a != nil {
		return a, nil
	}
	b, u, err := s.upload(c)
	if err != nil {
		return nil, err
	}
	parts, err := s.selectParts(u, list)
	if err != nil {
		return nil, err
	}
	o := u.assemble(parts)
	o.modified = s.now()
	o.encryption = u.encryption
	if err := c.checkKey(o.encryption, customerHeader); err != nil {
		return nil, err
	}
	if err := c.checkObject(o); err != nil {
		return nil, err
	}
	if err := s.checkWrite(c, lookup(b.objects, u.key), false); err != nil {
		return nil, err
	}
	b.put(o)
	b.forget(u)
	a := c.completeAnswer(o)
	s.completed[u.id] = completion{b.name, u.key, string(a.body)}
	return a, nil
}

// completedBefore answers a repetition of a request that has already completed
// the upload.
func (s *Server) completedBefore(c *call) *answer {
	before, ok := s.completed[c.query("uploadId")]
	if !ok || before.bucket != c.bucket() || before.key != c.key() {
		return nil
	}
	a := plain(http.StatusOK)
	a.header.Set("Content-Type", "application/xml")
	a.body = []byte(before.answer)
	return a
}

// selectParts returns the parts of u that the request lists. Parts that it does
// not list are dropped with the upload. Of what it lists only the last part may
// be small.
func (s *Server) selectParts(u *upload, list partList) ([]*part, error) {
	var parts []*part
	for i, listed := range list.Parts {
		if i > 0 && listed.PartNumber <= list.Parts[i-1].PartNumber {
			return nil, &apiError{status: http.StatusBadRequest, code: "InvalidPartOrder",
				message: "The list of parts was not in ascending order. Parts must be ordered by part number."}
		}
		at, found := u.position(listed.PartNumber)
		if !found || !listed.is(u.parts[at]) {
			return nil, invalidPart(u, listed)
		}
		parts = append(parts, u.parts[at])
	}
	for _, p := range parts[:len(parts)-1] {
		if size := int64(len(p.data)); size < s.opts.MinPartSize {
			return nil, entityTooSmall(p, size, s.opts.MinPartSize)
		}
	}
	return parts, nil
}

// invalidPart is the error of a part that does not exist or has another ETag.
func invalidPart(u *upload, listed listedPart) *apiError {
	e := &apiError{status: http.StatusBadRequest, code: "InvalidPart",
		message: "One or more of the specified parts could not be found. The part may not have been uploaded, or the specified entity tag may not match the part's entity tag."}
	return e.with("UploadId", u.id).with("PartNumber", strconv.Itoa(listed.PartNumber)).with("ETag", strings.Trim(listed.ETag, `"`))
}

// entityTooSmall is the error of a part below the least size, which only the
// last may be.
func entityTooSmall(p *part, size, least int64) *apiError {
	e := &apiError{status: http.StatusBadRequest, code: "EntityTooSmall",
		message: "Your proposed upload is smaller than the minimum allowed size"}
	return e.with("ProposedSize", fmt.Sprint(size)).with("MinSizeAllowed", fmt.Sprint(least)).
		with("PartNumber", strconv.Itoa(p.number)).with("ETag", strings.Trim(p.etag, `"`))
}

// assemble makes one object of parts. Its ETag is the MD5 of theirs and their
// number.
//
// The number tells a client that it cannot compare the ETag with the MD5 of the
// content:
//
//	"d41d8cd98f00b204e9800998ecf8427e"    one PUT
//	"3858f62230ac3c915f300c664312c11f-9"  nine parts
func (u *upload) assemble(parts []*part) *object {
	var data, etags, sums []byte
	for _, p := range parts {
		data = append(data, p.data...)
		etag, _ := hex.DecodeString(strings.Trim(p.etag, `"`))
		etags = append(etags, etag...)
		sum, _ := base64.StdEncoding.DecodeString(p.checksum.value)
		sums = append(sums, sum...)
	}
	sum := checksumOf(u.algorithm, data)
	if u.kind == composite {
		sum = checksumOf(u.algorithm, sums)
		sum.value, sum.kind = fmt.Sprintf("%s-%d", sum.value, len(parts)), composite
	}
	return &object{key: u.key, data: data, size: int64(len(data)), header: u.header, checksum: sum,
		etag: quoted(fmt.Sprintf("%s-%d", md5Hex(etags), len(parts)))}
}

// checkObject compares o with what the request says the whole object is. A
// client that sends the size or the checksum thus notices a part that it has
// forgotten to list.
func (c *call) checkObject(o *object) error {
	if given := c.header(o.checksum.header()); given != "" && given != o.checksum.value {
		return badDigest("The " + o.checksum.algorithm + " you specified did not match the calculated checksum.")
	}
	if given := c.header("X-Amz-Mp-Object-Size"); given != "" && given != strconv.FormatInt(o.size, 10) {
		return invalidRequest("The provided 'x-amz-mp-object-size' header does not match what was computed.")
	}
	return nil
}

// completeAnswer writes the document of a completed upload.
func (c *call) completeAnswer(o *object) *answer {
	d := newDocument("CompleteMultipartUploadResult")
	d.text("Location", "http://"+c.r.Host+"/"+c.bucket()+"/"+urlEncoded(o.key))
	d.text("Bucket", c.bucket())
	d.text("Key", o.key)
	d.text("ETag", o.etag)
	d.text(o.checksum.element(), o.checksum.value)
	d.text("ChecksumType", o.checksum.kind)
	return xmlAnswer(d, "CompleteMultipartUploadResult")
}
