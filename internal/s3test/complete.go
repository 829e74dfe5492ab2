package s3test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// completion is an upload that has been completed. Completing it again is
// answered as the first time: the client may not have seen that.
type completion struct{ bucket, key, answer string }

// partList is the body of CompleteMultipartUpload.
type partList struct {
	XMLName xml.Name     `xml:"CompleteMultipartUpload"`
	Parts   []listedPart `xml:"Part"`
}

// listedPart is a part as the client knows it.
type listedPart struct {
	PartNumber int
	ETag       string
	Other      []struct {
		XMLName xml.Name
		Value   string `xml:",chardata"`
	} `xml:",any"`
}

// is reports whether p has the ETag and the checksums that are listed.
func (l listedPart) is(p *part) bool {
	for _, element := range l.Other {
		algorithm, ok := strings.CutPrefix(element.XMLName.Local, "Checksum")
		if !ok || newHash(algorithm) == nil || checksumOf(algorithm, p.data).value != element.Value {
			return false
		}
	}
	return strings.Trim(l.ETag, `"`) == strings.Trim(p.etag, `"`)
}

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

// selectParts returns the parts of u that the request lists.
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

func invalidPart(u *upload, listed listedPart) *apiError {
	e := &apiError{status: http.StatusBadRequest, code: "InvalidPart",
		message: "One or more of the specified parts could not be found. The part may not have been uploaded, or the specified entity tag may not match the part's entity tag."}
	return e.with("UploadId", u.id).with("PartNumber", strconv.Itoa(listed.PartNumber)).with("ETag", strings.Trim(listed.ETag, `"`))
}

func entityTooSmall(p *part, size, least int64) *apiError {
	e := &apiError{status: http.StatusBadRequest, code: "EntityTooSmall",
		message: "Your proposed upload is smaller than the minimum allowed size"}
	return e.with("ProposedSize", fmt.Sprint(size)).with("MinSizeAllowed", fmt.Sprint(least)).
		with("PartNumber", strconv.Itoa(p.number)).with("ETag", strings.Trim(p.etag, `"`))
}

// assemble makes one object of parts. Its ETag is the MD5 of theirs and their
// number.
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

// checkObject compares o with what the request says the whole object is.
func (c *call) checkObject(o *object) error {
	if given := c.header(o.checksum.header()); given != "" && given != o.checksum.value {
		return badDigest("The " + o.checksum.algorithm + " you specified did not match the calculated checksum.")
	}
	if given := c.header("X-Amz-Mp-Object-Size"); given != "" && given != strconv.FormatInt(o.size, 10) {
		return invalidRequest("The provided 'x-amz-mp-object-size' header does not match what was computed.")
	}
	return nil
}

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
