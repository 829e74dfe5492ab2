package objectstore

import (
	"crypto/md5"
	"encoding/hex"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/workspacekit/workspacekit/workspace"
)

// object is what the store says of an object, without its content.
type object struct {
	key      string
	size     int64
	etag     string // as the store spells it, with quotes
	modified time.Time
	class    string // of the storage; empty for the store's standard
}

// isProvenEmpty reports whether the ETag says that the object is empty.
func (o object) isProvenEmpty() bool {
	sum := md5.Sum(nil)
	return string(versionOf(o.etag)) == hex.EncodeToString(sum[:])
}

// info describes the object as the file name. The store tells times to the
// second in some answers and finer in others: they are cut to what all have.
func (o object) info(name string) workspace.FileInfo {
	_, base := workspace.Split(name)
	return workspace.FileInfo{
		Name: base, Path: name, Type: workspace.TypeFile, Size: o.size,
		ModTime: o.modified.Truncate(time.Second), Version: versionOf(o.etag),
	}
}

// dirInfo describes the directory name. A store has no times of directories.
func dirInfo(name string) workspace.FileInfo {
	_, base := workspace.Split(name)
	return workspace.FileInfo{Name: base, Path: name, Type: workspace.TypeDirectory}
}

// versionOf returns the version that stands for an ETag.
func versionOf(etag string) workspace.Version {
	if inner, ok := strings.CutPrefix(etag, `"`); ok {
		if inner, ok := strings.CutSuffix(inner, `"`); ok {
			return workspace.Version(inner)
		}
	}
	return workspace.Version(etag)
}

// etagOf is the inverse of versionOf for the ETags that a store gives.
func etagOf(version workspace.Version) *string {
	if strings.HasSuffix(string(version), `"`) {
		return aws.String(string(version))
	}
	return aws.String(`"` + string(version) + `"`)
}
