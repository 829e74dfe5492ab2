package objectstore

import (
	"crypto/md5"
	"encoding/hex"
)

// goneText is the content of the object that takes the place of a file which
// is being moved away, until it is deleted. Listings know it by its ETag and
// size, readers by its metadata: to both it is no file. It is random, so that
// no file has it by chance.
const goneText = "workspacekit: moved away 5b1f0c9e6d7a43f2a8c4e0d93b76512f\n"

// goneKey is the metadata key of such an object.
const goneKey = "workspacekit-moved"

func isGone(metadata map[string]string) bool { return metadata[goneKey] != "" }

// isGone reports whether the object of a listing takes the place of a file that
// has been moved away. A store whose ETags are not the MD5 of the content shows
// it as a file for the moment until it is deleted.
func (o object) isGone() bool {
	if o.size != int64(len(goneText)) {
		return false
	}
	sum := md5.Sum([]byte(goneText))
	return string(versionOf(o.etag)) == hex.EncodeToString(sum[:])
}
