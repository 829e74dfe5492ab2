package object

// TombstoneText is the content of a tombstone: the object that takes the place
// of a file which is being moved away, until it is deleted. It is known by its
// metadata, which a listing need not ask for unless the ETag and the size are those
// of this text.
const TombstoneText = "workspacekit: moved away 5b1f0c9e6d7a43f2a8c4e0d93b76512f\n"

// TombstoneKey is the metadata key of a tombstone.
const TombstoneKey = "workspacekit-moved"

// HasTombstone reports whether metadata is that of a tombstone.
func HasTombstone(metadata map[string]string) bool { return metadata[TombstoneKey] != "" }

// tombstoneSum is the ETag of a tombstone, on stores whose ETags are MD5 sums.
var tombstoneSum = sumOf(TombstoneText)

// MayBeTombstone reports whether the object of a listing has the content of a
// tombstone. A store whose ETags are not MD5 sums shows a tombstone as a file for
// the moment until it is deleted.
func (o Object) MayBeTombstone() bool {
	return o.Size == int64(len(TombstoneText)) && string(o.Version()) == tombstoneSum
}
