package objectstore

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"golang.org/x/sync/errgroup"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// Rm implements [workspace.FileSystem]: three requests at most for a file or an
// empty directory, and two for each 1,000 keys below a directory, beside the
// one that keeps the directory it lies in. Where very many names continue that
// of a directory, one more finds it.
func (f *FS) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	if err := ops.Check(ctx, ops.Rm, name); err != nil {
		return err
	}
	if name == "." {
		return ops.Error(ops.Rm, name, fs.ErrInvalid, errors.New("the root cannot be removed"))
	}
	recursive, keys := opts != nil && opts.Recursive, int32(findKeys)
	if recursive {
		keys = maxKeys
	}
	found, err := f.find(ctx, name, keys)
	switch {
	case err != nil:
		return fault(ctx, ops.Rm, name, err)
	case !found.exists:
		return f.missing(ctx, ops.Rm, name)
	case found.info.IsDir() && !recursive && !found.empty:
		return ops.Error(ops.Rm, name, workspace.ErrNotEmpty, nil)
	}
	err = f.remove(ctx, name, found)
	if errors.Is(err, errUnlistable) {
		return ops.Error(ops.Rm, name, workspace.ErrNotEmpty, errUnlistable)
	}
	if err != nil {
		return fault(ctx, ops.Rm, name, err)
	}
	f.watches.removed(name)
	return nil
}

// remove removes what was found at name, and keeps the directory it lies in.
func (f *FS) remove(ctx context.Context, name string, found finding) error {
	if err := f.keep(ctx, name); err != nil {
		return err
	}
	if !found.info.IsDir() {
		return f.delete(ctx, f.key(name), nil)
	}
	f.folders.forget(name)
	return f.removeTree(ctx, f.dirKey(name), found)
}

// removeTree deletes the keys that were found below dirKey and all that follow,
// the marker last.
//
// # Errors
//
// errUnlistable, and the store's.
func (f *FS) removeTree(ctx context.Context, dirKey string, found finding) error {
	keys, token := found.keys, found.token
	marked, doubt := false, false
	for {
		doubt = doubt || slices.ContainsFunc(keys, misspelt)
		if len(keys) > 0 && keys[0] == dirKey {
			marked, keys = true, keys[1:]
		}
		slices.Reverse(keys)
		if token == "" && marked {
			keys = append(keys, dirKey)
		}
		if err := f.deleteAll(ctx, keys); err != nil {
			return err
		}
		if token == "" {
			return f.checkEmptied(ctx, dirKey, doubt)
		}
		p, err := f.list(ctx, listQuery{prefix: dirKey, flat: true})
		if err != nil {
			return err
		}
		keys, token = p.keys(), p.token
	}
}

// errUnlistable says that objects remain whose keys the store cannot list.
var errUnlistable = errors.New("it has objects whose keys the store lists with other characters: remove those with another program")

// misspelt reports whether a listing may have spelled another key as key: some
// stores put U+FFFD in the place of a character that XML cannot spell.
func misspelt(key string) bool { return strings.ContainsRune(key, utf8.RuneError) }

// checkEmptied returns errUnlistable if an object remains whose key begins with
// prefix. It asks the store only if a key was in doubt: to delete one that does
// not exist succeeds.
func (f *FS) checkEmptied(ctx context.Context, prefix string, doubt bool) error {
	if !doubt {
		return nil
	}
	remains, err := f.exists(ctx, prefix)
	if err == nil && remains {
		return errUnlistable
	}
	return err
}

func (p page) keys() []string {
	keys := make([]string, len(p.objects))
	for i, o := range p.objects {
		keys[i] = o.key
	}
	return keys
}

// delete deletes the object key, if it has the ETag ifMatch where that is not
// nil. One that does not exist is no error.
func (f *FS) delete(ctx context.Context, key string, ifMatch *string) error {
	_, err := f.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: f.bucket, Key: aws.String(key), IfMatch: ifMatch})
	return err
}

// deleteAll deletes up to 1,000 objects, in one request where the store can and
// XML can spell the keys: what it cannot, it would turn into other keys.
func (f *FS) deleteAll(ctx context.Context, keys []string) error {
	switch {
	case len(keys) == 0:
		return nil
	case len(keys) == 1:
		return f.delete(ctx, keys[0], nil)
	case slices.ContainsFunc(keys, notXML):
		return f.deleteEach(ctx, keys)
	}
	objects := make([]types.ObjectIdentifier, len(keys))
	for i, key := range keys {
		objects[i].Key = aws.String(key)
	}
	out, err := f.client.DeleteObjects(ctx, &s3.DeleteObjectsInput{
		Bucket: f.bucket, Delete: &types.Delete{Objects: objects},
	}, answersForAll(len(keys)))
	switch codeOf(err) {
	case "":
	case "NotImplemented", "MethodNotAllowed", "MissingContentMD5":
		return f.deleteEach(ctx, keys)
	}
	if err == nil && len(out.Errors) > 0 {
		err = &smithy.GenericAPIError{Code: aws.ToString(out.Errors[0].Code), Message: aws.ToString(out.Errors[0].Message)}
	}
	return err
}

// answersForAll makes a DeleteObjects fail whose answer does not say of n keys
// what has become of them.
func answersForAll(n int) func(*s3.Options) {
	return func(o *s3.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return insertCheck(stack, "workspacekit:CheckDeleted", func(result any, _ *smithyhttp.Response) string {
				if out, ok := result.(*s3.DeleteObjectsOutput); !ok || len(out.Deleted)+len(out.Errors) != n {
					return "some of the keys"
				}
				return ""
			})
		})
	}
}

// notXML reports whether key has a character that XML 1.0 cannot spell
// (https://www.w3.org/TR/xml/#charsets), or is not valid UTF-8.
func notXML(key string) bool {
	return !utf8.ValidString(key) || strings.ContainsFunc(key, func(r rune) bool {
		return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff
	})
}

// deleteEach deletes the objects side by side.
func (f *FS) deleteEach(ctx context.Context, keys []string) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(f.opts.Workers)
	for _, key := range keys {
		group.Go(func() error { return f.delete(ctx, key, nil) })
	}
	return group.Wait()
}
