package objectstore

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/glob"
	"github.com/workspacekit/workspacekit/internal/lazyregexp"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/bucket"
	"github.com/workspacekit/workspacekit/workspace"
)

// ObjectRule is what a store keeps beside the content of some new files. A file
// that is edited, copied or moved keeps what it has.
type ObjectRule struct {
	// Glob matches the files, as [workspace.GrepOptions].IncludeGlob does: their
	// name if it has no "/", else their path. It is required; "**" matches all.
	Glob string
	// StorageClass is the class of the storage, as the store calls it. Empty
	// means what an earlier rule says, else the store's standard.
	StorageClass string
	// CacheControl is the header Cache-Control of what is served from the
	// bucket. Empty means what an earlier rule says, else none.
	CacheControl string
	// Metadata is user metadata, beside that of earlier rules. Keys do not
	// differ by case.
	Metadata map[string]string
}

// maxMetadata is how many bytes of user metadata a store keeps
// (https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingMetadata.html),
// without those that are ours.
const maxMetadata = 2<<10 - 128

// reservedMetadata is what the metadata keys of this package begin with.
const reservedMetadata = "workspacekit-"

// What can be a header of a request without being escaped.
var (
	metadataKey  = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	headerValue  = lazyregexp.New(`^[!-~]([ -~]*[!-~])?$`)
	storageClass = lazyregexp.New(`^[A-Z][A-Z0-9_]*$`)
)

// checkRules returns all that is wrong with the rules for new objects.
func checkRules(rules []ObjectRule) error {
	var errs []error
	for i, r := range rules {
		for _, err := range r.check() {
			errs = append(errs, wrong("NewObjects", "rule %d: %w", i+1, err))
		}
	}
	return errors.Join(errs...)
}

// check returns all that is wrong with the rule.
func (r ObjectRule) check() (errs []error) {
	if _, err := r.compile(); err != nil {
		errs = append(errs, fmt.Errorf("the glob %q is not valid: %w", r.Glob, errors.Unwrap(err)))
	}
	if r.StorageClass == "" && r.CacheControl == "" && len(r.Metadata) == 0 {
		errs = append(errs, errors.New("it says nothing: give it a storage class, a cache control or metadata"))
	}
	switch {
	case r.StorageClass == "":
	case slices.Contains([]string{"GLACIER", "DEEP_ARCHIVE"}, r.StorageClass):
		errs = append(errs, fmt.Errorf("files of the storage class %s cannot be read before they are restored: take GLACIER_IR", r.StorageClass))
	case !storageClass().MatchString(r.StorageClass):
		errs = append(errs, fmt.Errorf("%q is not a storage class such as STANDARD_IA", r.StorageClass))
	}
	if r.CacheControl != "" && !headerValue().MatchString(r.CacheControl) {
		errs = append(errs, errors.New("the cache control must be of printable ASCII characters, such as max-age=60"))
	}
	return append(errs, checkMetadata(r.Metadata)...)
}

// checkMetadata returns what is wrong with metadata. Stores do not tell keys apart by
// case, and bound the bytes of all keys and values together.
func checkMetadata(metadata map[string]string) (errs []error) {
	size := 0
	seen := make(map[string]bool)
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		size += len(key) + len(metadata[key])
		lower := strings.ToLower(key)
		switch {
		case !metadataKey().MatchString(key):
			errs = append(errs, fmt.Errorf("the metadata key %q must be of letters, digits, dots and dashes", key))
		case strings.HasPrefix(lower, reservedMetadata):
			errs = append(errs, fmt.Errorf("the metadata key %q is reserved: choose one that does not begin with %s", key, reservedMetadata))
		case seen[lower]:
			errs = append(errs, fmt.Errorf("the metadata key %q is there twice: keys do not differ by case", key))
		case !headerValue().MatchString(metadata[key]):
			errs = append(errs, fmt.Errorf("the metadata of %q must be of printable ASCII characters, without spaces around them", key))
		}
		seen[lower] = true
	}
	if size > maxMetadata {
		errs = append(errs, fmt.Errorf("the metadata has %d bytes, and the most is %d", size, maxMetadata))
	}
	return errs
}

// rule is a compiled ObjectRule.
type rule struct {
	pattern     *glob.Pattern
	path        bool // the pattern has a slash, and is matched with the whole name
	description bucket.Description
}

// compile returns the glob of the rule. A slash at its start means the root, as in
// .gitignore, and has no meaning here.
func (r ObjectRule) compile() (*glob.Pattern, error) {
	pattern, err := glob.Compile(strings.TrimPrefix(r.Glob, "/"))
	if err != nil {
		return nil, fmt.Errorf("glob: %w", err)
	}
	return pattern, nil
}

// compileRules compiles rules that have been checked.
func compileRules(rules []ObjectRule) []rule {
	var compiled []rule
	for _, r := range rules {
		pattern, err := r.compile()
		if err != nil {
			continue // Check has refused it
		}
		d := make(bucket.Description)
		if r.StorageClass != "" {
			d[bucket.ClassHeader] = []string{r.StorageClass}
		}
		if r.CacheControl != "" {
			d["Cache-Control"] = []string{r.CacheControl}
		}
		for key, value := range r.Metadata {
			d[bucket.MetaHeader(key)] = []string{value}
		}
		compiled = append(compiled, rule{pattern, strings.Contains(r.Glob, "/"), d})
	}
	return compiled
}

// matches reports whether the rule applies to the file name.
func (r rule) matches(name string) bool {
	if !r.path {
		_, name = workspace.Split(name)
	}
	return r.pattern.Match(name)
}

// describe returns the description of a new file name: its type, and what the
// rules for new objects say.
func (t *tree) describe(name string) bucket.Description {
	d := bucket.DescribeType(name)
	for _, r := range t.rules {
		if !r.matches(name) {
			continue
		}
		if d == nil {
			d = make(bucket.Description)
		}
		maps.Copy(d, r.description)
	}
	return d
}
