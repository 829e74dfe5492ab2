package container

import (
	"bytes"
	"path"
	"strconv"

	"github.com/workspacekit/workspacekit/workspace"
)

// parcels returns what the program's fetch has sent, by name: at most limit
// bytes of each file, or all if that is zero. Each parcel has the number of the
// files in it, their descriptions, their bytes, and their descriptions again.
// If these are the same, each file was as long all the time as it was said to
// be, which tells where its bytes are. Files of which that is not so are left
// out, and so are all behind them.
func parcels(body []byte, limit int64) map[string][]byte {
	fetched := map[string][]byte{}
	for len(body) > 0 {
		line, rest, _ := bytes.Cut(body, []byte{'\n'})
		count, err := strconv.Atoi(string(line))
		if err != nil {
			break
		}
		if body = parcel(rest, count, limit, fetched); body == nil {
			break
		}
	}
	return fetched
}

// parcel adds the files of one parcel to fetched, and returns what is behind
// it: nil if that cannot be told.
func parcel(body []byte, count int, limit int64, fetched map[string][]byte) []byte {
	before, contents, ok := cutListing(body, count)
	if !ok {
		return nil
	}
	total := int64(0)
	for _, e := range before {
		total += e.length(limit)
	}
	if int64(len(contents)) < total {
		return nil
	}
	after, rest, ok := cutListing(contents[total:], count)
	if !ok {
		return nil
	}
	for i, e := range before {
		if e != after[i] || e.kind != workspace.TypeFile {
			return nil
		}
	}
	for _, e := range before {
		length := e.length(limit)
		fetched[e.name] = contents[:length:length]
		contents = contents[length:]
	}
	if rest == nil {
		return []byte{}
	}
	return rest
}

// length returns how many bytes of e are sent.
func (e entry) length(limit int64) int64 {
	if limit > 0 {
		return min(e.size, limit)
	}
	return e.size
}

// cutListing returns the first entries of a listing, and what is behind them.
func cutListing(body []byte, count int) (entries []entry, rest []byte, ok bool) {
	for range count {
		line, rest, found := bytes.Cut(body, []byte("//\n"))
		if !found {
			return nil, nil, false
		}
		r, name, err := parseRecord(line)
		if err != nil {
			return nil, nil, false
		}
		entries = append(entries, entry{r, path.Clean(string(name))})
		body = rest
	}
	return entries, body, true
}
