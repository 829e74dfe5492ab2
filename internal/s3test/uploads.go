package s3test

import (
	"strconv"
	"strings"
)

// listUploads answers with the open uploads.
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
// are in the order of their ids, which is that of their beginning.
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

func (d *document) part(p *part) {
	d.open("Part")
	d.number("PartNumber", int64(p.number))
	d.time("LastModified", p.modified)
	d.text("ETag", p.etag)
	d.text(p.checksum.element(), p.checksum.value)
	d.number("Size", int64(len(p.data)))
	d.close("Part")
}
