package s3test

import (
	"cmp"
	"encoding/base64"
	"strconv"
	"strings"
)

// maxListed is the most entries of a page; a request for more gets as many.
const maxListed = 1000

// listing is a ListObjectsV2: what it asks for and what it found.
//
// The server keeps nothing from one page to the next: what the next one needs
// is in its token. Keys that are written in between appear if they sort after
// it.
type listing struct {
	prefix, delimiter  string
	limit              int // the most objects and prefixes together
	objects            []*object
	prefixes           []string
	truncated          bool   // there is more after last
	last               string // the last key or common prefix found
	lastIsCommonPrefix bool
}

// listObjects answers ListObjectsV2.
func (s *Server) listObjects(c *call) (*answer, error) {
	encode, err := s.encoding(c)
	if err != nil {
		return nil, err
	}
	limit, err := c.limit("max-keys")
	if err != nil {
		return nil, err
	}
	l := &listing{prefix: c.query("prefix"), delimiter: c.query("delimiter"), limit: limit}
	if err := s.list(c, l); err != nil {
		return nil, err
	}
	return c.listAnswer(l, encode), nil
}

// encoding returns how keys are written in a listing. Nil means as they are.
func (s *Server) encoding(c *call) (func(string) string, error) {
	switch kind := c.query("encoding-type"); {
	case kind == "" || s.opts.IgnoreEncodingType:
		return nil, nil
	case kind != "url":
		return nil, invalidArgument("Invalid Encoding Method specified in Request", "encoding-type", kind)
	}
	return urlEncoded, nil
}

// limit returns how many entries a listing may have. Zero is allowed, and finds
// nothing.
func (c *call) limit(parameter string) (int, error) {
	text := c.query(parameter)
	if text == "" {
		return maxListed, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, invalidArgument("Provided "+parameter+" not an integer or within integer range", parameter, text)
	}
	if n < 0 {
		return 0, invalidArgument("Argument "+parameter+" must be an integer between 0 and 2147483647", parameter, text)
	}
	return min(n, maxListed), nil
}

// list fills a page of a listing.
func (s *Server) list(c *call, l *listing) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys, err := s.index(c.bucket())
	if err != nil {
		return err
	}
	start, err := c.start(keys, l.prefix)
	if err != nil {
		return err
	}
	l.collect(keys, start)
	return nil
}

// start returns the position where a listing begins. A continuation token
// outdoes start-after. The key with a zero byte is the next possible one, so
// the listing begins after the key itself. A token that ended with a common
// prefix skips all keys below it.
func (c *call) start(keys index, prefix string) (int, error) {
	begin := find(keys, 0, prefix)
	if !c.has("continuation-token") {
		if after := c.query("start-after"); after != "" {
			return find(keys, begin, after+"\x00"), nil
		}
		return begin, nil
	}
	last, isPrefix, ok := parseToken(c.query("continuation-token"))
	switch {
	case !ok:
		return 0, invalidArgument("The continuation token provided is incorrect", "continuation-token", c.query("continuation-token"))
	case isPrefix:
		return past(keys, find(keys, begin, last), last), nil
	}
	return find(keys, begin, last+"\x00"), nil
}

// collect takes the keys from position i, those with a common prefix as one.
// With the prefix "" and the delimiter "/":
//
//	keys      a/1  a/2  b  c/d/1
//	objects             b
//	prefixes  a/           c/
//
// A common prefix counts as one entry of the page, and its keys are skipped by
// a binary search: a directory of a million keys costs little more than one of
// two. The page is only known to be truncated when one more entry has been
// seen.
func (l *listing) collect(keys index, i int) {
	for l.limit > 0 && i < keys.length() {
		key := keys.key(i)
		if !strings.HasPrefix(key, l.prefix) {
			return
		}
		if len(l.objects)+len(l.prefixes) == l.limit {
			l.truncated = true
			return
		}
		l.last = key
		end := -1
		if l.delimiter != "" {
			end = strings.Index(key[len(l.prefix):], l.delimiter)
		}
		if l.lastIsCommonPrefix = end >= 0; !l.lastIsCommonPrefix {
			l.objects = append(l.objects, keys.object(i))
			i++
			continue
		}
		l.last = key[:len(l.prefix)+end+len(l.delimiter)]
		l.prefixes = append(l.prefixes, l.last)
		i = past(keys, i, l.last)
	}
}

// token returns the continuation token of the next page. The letter says
// whether last is a key (k) or a common prefix (p). Clients must not look into
// it, so it need not look like Amazon's.
func (l *listing) token() string {
	kind := "k"
	if l.lastIsCommonPrefix {
		kind = "p"
	}
	return base64.URLEncoding.EncodeToString([]byte(kind + l.last))
}

// parseToken decodes a continuation token.
func parseToken(token string) (last string, isPrefix, ok bool) {
	text, err := base64.URLEncoding.DecodeString(token)
	if err != nil || len(text) < 2 || text[0] != 'k' && text[0] != 'p' {
		return "", false, false
	}
	return string(text[1:]), text[0] == 'p', true
}

// listAnswer writes the document of a listing.
func (c *call) listAnswer(l *listing, encode func(string) string) *answer {
	d := newDocument("ListBucketResult")
	d.text("Name", c.bucket())
	d.key("Prefix", l.prefix, encode)
	if l.delimiter != "" {
		d.key("Delimiter", l.delimiter, encode)
	}
	d.optional("ContinuationToken", c.query("continuation-token"))
	if after := c.query("start-after"); after != "" {
		d.key("StartAfter", after, encode)
	}
	if l.truncated {
		d.text("NextContinuationToken", l.token())
	}
	d.number("KeyCount", int64(len(l.objects)+len(l.prefixes)))
	d.number("MaxKeys", int64(l.limit))
	if encode != nil {
		d.text("EncodingType", "url")
	}
	d.truth("IsTruncated", l.truncated)
	for _, o := range l.objects {
		d.listed(o, encode, c.query("fetch-owner") == "true")
	}
	d.commonPrefixes(l.prefixes, encode)
	return xmlAnswer(d, "ListBucketResult")
}

// optional writes the element unless it would be empty.
func (d *document) optional(name, value string) {
	if value != "" {
		d.text(name, value)
	}
}

// key writes an element with a key, encoded if encode is not nil.
func (d *document) key(name, key string, encode func(string) string) {
	if encode != nil {
		key = encode(key)
	}
	d.text(name, key)
}

// listed adds an object of a listing.
func (d *document) listed(o *object, encode func(string) string, owner bool) {
	d.open("Contents")
	d.key("Key", o.key, encode)
	d.time("LastModified", o.modified)
	d.text("ETag", o.etag)
	d.text("ChecksumAlgorithm", o.checksum.algorithm)
	d.text("ChecksumType", o.checksum.kind)
	d.number("Size", o.size)
	d.text("StorageClass", o.class())
	if owner {
		d.owner("Owner")
	}
	d.close("Contents")
}

// class returns the storage class as a header has it.
func (o *object) class() string { return cmp.Or(o.header.Get("X-Amz-Storage-Class"), standard) }

// commonPrefixes adds the prefixes of a listing with a delimiter.
func (d *document) commonPrefixes(prefixes []string, encode func(string) string) {
	for _, prefix := range prefixes {
		d.open("CommonPrefixes")
		d.key("Prefix", prefix, encode)
		d.close("CommonPrefixes")
	}
}
