package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"golang.org/x/sync/errgroup"
)

// store is the prefix of a bucket that is measured.
type store struct {
	endpoint, region             string
	accessKeyID, secretAccessKey string
	bucket                       string
	prefix                       string // of every key; ends in a slash
}

// newStore returns the prefix of the bucket that the environment names. The
// variables are those of package s3test. It sends no request.
func newStore(prefix string) (*store, error) {
	s := &store{region: os.Getenv("WORKSPACEKIT_S3_REGION"), prefix: prefix}
	if s.region == "" {
		s.region = "us-east-1"
	}
	var missing []string
	for _, variable := range []struct {
		name  string
		value *string
	}{
		{"WORKSPACEKIT_S3_ENDPOINT", &s.endpoint},
		{"WORKSPACEKIT_S3_ACCESS_KEY_ID", &s.accessKeyID},
		{"WORKSPACEKIT_S3_SECRET_ACCESS_KEY", &s.secretAccessKey},
		{"WORKSPACEKIT_S3_BUCKET", &s.bucket},
	} {
		if *variable.value = os.Getenv(variable.name); *variable.value == "" {
			missing = append(missing, variable.name)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf(`there is no S3 server to measure: run eval "$(../../.ci/s3 start)", or set %s`, strings.Join(missing, ", "))
	}
	return s, nil
}

func (s *store) key(name string) string { return s.prefix + name }

// objects is a set of text files in numbered folders. Equal values are the same
// objects, so benchmarks share them.
type objects struct {
	dir     string
	folders int
	perEach int
	size    int // of each, in bytes
}

func single() objects { return objects{"single", 1, 1, 4 << 10} }
func folder() objects { return objects{"folder", 1, 1000, 1 << 10} }
func tree() objects   { return objects{"tree", 100, 100, 1 << 10} }
func grove() objects  { return objects{"grove", 20, 100, 1 << 10} }

func (o objects) count() int          { return o.folders * o.perEach }
func (o objects) folder(i int) string { return fmt.Sprintf("%s/d%03d", o.dir, i) }
func (o objects) name(i int) string {
	return fmt.Sprintf("%s/f%04d.txt", o.folder(i/o.perEach), i%o.perEach)
}

// needle is a text that one file in needleEvery has, on one line.
const (
	needle      = "the needle in the haystack"
	needleEvery = 100
)

// content returns the text of the file number i.
func (o objects) content(i int) string {
	var text strings.Builder
	for line := 0; text.Len() < o.size; line++ {
		fmt.Fprintf(&text, "line %d of file %d: plain words that nobody looks for\n", line, i)
		if i%needleEvery == 0 && line == 8 {
			text.WriteString(needle + "\n")
		}
	}
	return text.String()[:o.size]
}

// atOnce is how many requests prepare and remove objects at a time.
const atOnce = 16

// fill writes the objects. The first error stops the others.
func (s *store) fill(ctx context.Context, o objects) error {
	client := s.client()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range o.count() {
		group.Go(func() error {
			_, err := client.PutObject(ctx, &s3.PutObjectInput{
				Bucket: &s.bucket, Key: aws.String(s.key(o.name(i))), Body: strings.NewReader(o.content(i)),
			})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("writing %d objects into bucket %s: %w", o.count(), s.bucket, err)
	}
	return nil
}

// clear removes every object below the prefix. It is called also after an error
// or an interrupt, and goes on from page to page while objects of earlier pages
// are being removed.
func (s *store) clear(ctx context.Context) error {
	client := s.client()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	pages := s3.NewListObjectsV2Paginator(client, &s3.ListObjectsV2Input{Bucket: &s.bucket, Prefix: &s.prefix})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return errors.Join(fmt.Errorf("listing what to remove below %s: %w", s.prefix, err), group.Wait())
		}
		for _, object := range page.Contents {
			group.Go(func() error {
				_, err := client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.bucket, Key: object.Key})
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("removing the objects below %s: %w", s.prefix, err)
	}
	return nil
}
