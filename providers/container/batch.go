package container

import (
	"context"
	"maps"
	"slices"
	"strings"
)

const (
	// batchSize is how many bytes are read ahead, at least of one file.
	batchSize = 16 << 20
	// batchFiles is how many files are read ahead.
	batchFiles = 2048
	// largeFile is the size of a file that is not read together with others.
	largeFile = 1 << 20
	// maxAhead is how many bytes are kept that nobody has asked for.
	maxAhead = 64 << 20
)

// read returns the bytes of e. Of a binary file, or one without a match, it
// returns as little as says so. It returns false for what has to be read alone.
func (fs *files) read(ctx context.Context, e *entry) ([]byte, bool, error) {
	if fs.binary[e] {
		return []byte{0}, true, nil
	}
	at, needed := slices.BinarySearchFunc(fs.needed, e.name, func(e *entry, name string) int {
		return strings.Compare(e.name, name)
	})
	if !needed {
		_, sure := fs.binary[e]
		return nil, sure, nil
	}
	if e.size > largeFile {
		return nil, false, nil
	}
	if _, ok := fs.fetched[e.name]; !ok {
		if err := fs.fetch(ctx, fs.batch(at)); err != nil {
			return nil, false, err
		}
	}
	data, ok := fs.fetched[e.name]
	if ok {
		delete(fs.fetched, e.name)
		fs.ahead -= int64(len(data))
	}
	return data, ok, nil
}

// batch returns the files that are read with the one at. Those in front of it
// that nobody has asked for are, too: several workers ask out of order.
func (fs *files) batch(at int) []*entry {
	for fs.first < at && (fs.asked[fs.needed[fs.first]] || fs.needed[fs.first].size > largeFile) {
		fs.first++
	}
	if batch := fs.batchFrom(fs.first); slices.Contains(batch, fs.needed[at]) {
		return batch
	}
	return fs.batchFrom(at)
}

// batchFrom returns the file at, and those behind it that have not been read.
func (fs *files) batchFrom(at int) []*entry {
	batch, size := []*entry{fs.needed[at]}, fs.needed[at].size
	for _, e := range fs.needed[at+1:] {
		if fs.asked[e] || e.size > largeFile {
			continue
		}
		if size += e.size; len(batch) == batchFiles || size > batchSize {
			break
		}
		batch = append(batch, e)
	}
	return batch
}

// fetch reads files. Those that change meanwhile, or cannot be read, are not
// among what is fetched then.
func (fs *files) fetch(ctx context.Context, batch []*entry) error {
	body, _, err := fs.ask(ctx, "fetch", batch, "0")
	if err != nil {
		return err
	}
	for _, e := range batch {
		fs.asked[e] = true
	}
	if fs.ahead > maxAhead {
		clear(fs.fetched)
		fs.ahead = 0
	}
	for name, data := range parcels(body, 0) {
		fs.fetched[name] = data
		fs.ahead += int64(len(data))
	}
	return nil
}

// readRules returns the bytes of an ignore file. All of them are read with the
// first.
func (fs *files) readRules(ctx context.Context, e *entry) ([]byte, bool, error) {
	if fs.ruled == nil {
		fs.ruled = map[string][]byte{}
		for batch := range slices.Chunk(fs.rules, batchFiles) {
			body, _, err := fs.ask(ctx, "fetch", batch, "0")
			if err != nil {
				return nil, false, err
			}
			maps.Copy(fs.ruled, parcels(body, 0))
		}
	}
	data, ok := fs.ruled[e.name]
	return data, ok, nil
}
