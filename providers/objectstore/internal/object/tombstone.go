package object

// TombstoneText is the content of a tombstone: the object that takes the place
// of a file which is being moved away, until it is deleted. Listings know it by
// its ETag and size, readers by its metadata: to both it is no file. It is
// random, so that no file has it by chance.
const TombstoneText = "workspacekit: moved away 5b1f0c9e6d7a43f2a8c4e0d93b76512f\n"

// TombstoneKey is the metadata key of a tombstone.
const TombstoneKey = "workspacekit-moved"

// HasTombstone reports whether metadata is that of a tombstone.
func HasTombstone(metadata map[string]string) bool { return metadata[TombstoneKey] != "" }

// tombstoneSum is the ETag of a tombstone, on stores whose ETags are MD5 sums.
var tombstoneSum = sumOf(TombstoneText)

// IsTombstone reports whether the object of a listing is a tombstone. A store
// whose ETags are not MD5 sums shows it as a file for the moment until it is
// deleted.
func (o Object) IsTombstone() bool {
	return o.Size == int64(len(TombstoneText)) && string(o.Version()) == tombstoneSum
}
