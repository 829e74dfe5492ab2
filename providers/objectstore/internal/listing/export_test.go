package listing

import "time"

// Listed is a listing that was decoded.
type Listed struct {
	Truncated       bool
	Token, Encoding string
	Objects         []ListedObject
	Prefixes        []string
}

// ListedObject is an object of a listing.
type ListedObject struct {
	Key, ETag string
	Size      int64
	Modified  time.Time
}

// DecodeList is decodeList.
func DecodeList(document []byte) (Listed, error) {
	r, err := decodeList(document)
	l := Listed{Truncated: r.truncated, Token: r.token, Encoding: r.encoding, Prefixes: r.prefixes}
	for _, o := range r.objects {
		l.Objects = append(l.Objects, ListedObject{Key: o.Key, ETag: o.ETag, Size: o.Size, Modified: o.Modified})
	}
	return l, err
}
