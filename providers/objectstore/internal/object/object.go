// Package object says what the objects of a bucket mean: which name a key stands
// for, which version an ETag, and which file an object. It sends no request.
//
// In go names, versions and what a store says; out come keys, ETags and
// [workspace.FileInfo]s, and the other way round.
package object

import (
	"crypto/md5"
	"encoding/hex"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/workspacekit/workspacekit/workspace"
)

// Object is what the store says about an object, without its content.
type Object struct {
	Key      string
	Size     int64
	ETag     string // as the store spells it, with quotes
	Modified time.Time
	Class    string // of the storage; empty for the store's standard

	Tombstone bool // it is no file; known in a listing
}

// MaxSize is more than any store lets an object have. A greater size is a lie.
const MaxSize = 1 << 50

// IsProvenEmpty reports whether the ETag says that the object is empty.
func (o Object) IsProvenEmpty() bool { return string(o.Version()) == emptySum }

// emptySum is the ETag of what is empty, on stores whose ETags are MD5 sums.
var emptySum = sumOf("")

func sumOf(content string) string {
	sum := md5.Sum([]byte(content))
	return hex.EncodeToString(sum[:])
}

// Info describes the object as the file name. The store tells times to the
// second in some answers and finer in others: they are cut to what all have.
func (o Object) Info(name string) workspace.FileInfo {
	_, base := workspace.Split(name)
	return workspace.FileInfo{
		Name: base, Path: name, Type: workspace.TypeFile, Size: o.Size,
		ModTime: o.Modified.Truncate(time.Second), Version: o.Version(),
	}
}

// DirInfo describes the directory name. A store has no times of directories.
func DirInfo(name string) workspace.FileInfo {
	_, base := workspace.Split(name)
	return workspace.FileInfo{Name: base, Path: name, Type: workspace.TypeDirectory}
}

// Version returns the version that stands for the ETag of the object.
func (o Object) Version() workspace.Version { return VersionOf(o.ETag) }

// VersionOf returns the version that stands for an ETag: what is between its
// quotes, where it has them.
func VersionOf(etag string) workspace.Version {
	if inner, ok := strings.CutPrefix(etag, `"`); ok {
		if inner, ok := strings.CutSuffix(inner, `"`); ok {
			return workspace.Version(inner)
		}
	}
	return workspace.Version(etag)
}

// ETagOf is the inverse of VersionOf for the ETags that a store gives.
func ETagOf(version workspace.Version) *string {
	if strings.HasSuffix(string(version), `"`) {
		return aws.String(string(version))
	}
	return aws.String(`"` + string(version) + `"`)
}
