package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	signer "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	_ "github.com/rclone/rclone/backend/s3"
	"github.com/rclone/rclone/fs"
	"github.com/rclone/rclone/fs/object"
	"github.com/rclone/rclone/fs/walk"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"
)

// clients are the ways to a store that are compared. They share no connections.
type clients struct {
	*store
	ours    *objectstore.FS
	raw     *s3.Client
	gocloud *blob.Bucket
	rclone  remote
	plain   plain

	oursClient *s3.Client    // of ours
	sent       *atomic.Int64 // requests of oursClient
}

// counted counts the requests of a client. An attempt that the SDK makes again
// counts again.
type counted struct {
	s3.HTTPClient
	sent *atomic.Int64
}

// Do implements [s3.HTTPClient].
func (c counted) Do(request *http.Request) (*http.Response, error) {
	c.sent.Add(1)
	return c.HTTPClient.Do(request)
}

// newClients returns clients of their own for each contender, so that none gets the
// connections that another has opened.
func newClients(ctx context.Context, s *store) (*clients, error) {
	c := &clients{store: s, raw: s.client(), plain: newPlain(s), sent: new(atomic.Int64)}
	c.oursClient = s3.New(s.client().Options(), func(o *s3.Options) { o.HTTPClient = counted{o.HTTPClient, c.sent} })
	var err error
	if c.ours, err = c.newOurs(); err != nil {
		return nil, err
	}
	if c.rclone, err = newRemote(ctx, s); err != nil {
		return nil, err
	}
	c.gocloud, err = s3blob.OpenBucket(ctx, s.client(), s.bucket, nil)
	return c, err
}

// newOurs returns a workspace that has seen nothing yet, with connections that
// are open.
func (c *clients) newOurs() (*objectstore.FS, error) {
	return objectstore.New(c.oursClient, &objectstore.Options{Bucket: c.bucket, Prefix: c.prefix})
}

// idleConnections is how many connections the client that the provider makes
// keeps open.
const idleConnections = 64

// client returns a client with the settings of the one that the provider
// makes.
func (s *store) client() *s3.Client {
	compat := objectstore.CompatFor(s.endpoint)
	options := s3.Options{
		BaseEndpoint: aws.String(s.endpoint),
		Region:       s.region,
		UsePathStyle: compat.PathStyle,
		Credentials:  credentials.NewStaticCredentialsProvider(s.accessKeyID, s.secretAccessKey, ""),
		HTTPClient: awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
			t.MaxIdleConns, t.MaxIdleConnsPerHost = idleConnections, idleConnections
		}),
	}
	if compat.RequiredChecksumsOnly {
		options.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		options.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	}
	return s3.New(options)
}

// plain sends signed requests and decodes nothing of their answers, so it
// takes what the server and the network take, and the least of any client.
type plain struct {
	*store
	http   *http.Client
	signer *signer.Signer
}

// newPlain returns a client that signs and sends requests, and does nothing else.
func newPlain(s *store) plain {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = idleConnections, idleConnections
	return plain{
		store:  s,
		http:   &http.Client{Transport: transport},
		signer: signer.NewSigner(func(o *signer.SignerOptions) { o.DisableURIPathEscaping = true }),
	}
}

// get returns the body of the answer to a GET of key, or of the bucket if key
// is empty.
func (p plain) get(ctx context.Context, key string, query url.Values) ([]byte, error) {
	address := p.endpoint + "/" + p.bucket + "/" + key + "?" + query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	if err := p.sign(ctx, request); err != nil {
		return nil, err
	}
	answer, err := p.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s", request.URL.Path, answer.Status)
	}
	return io.ReadAll(answer.Body)
}

// sign signs a request without a body.
func (p plain) sign(ctx context.Context, request *http.Request) error {
	empty := sha256.Sum256(nil)
	hash := hex.EncodeToString(empty[:])
	request.Header.Set("X-Amz-Content-Sha256", hash)
	credentials := aws.Credentials{AccessKeyID: p.accessKeyID, SecretAccessKey: p.secretAccessKey}
	return p.signer.SignHTTP(ctx, credentials, request, hash, "s3", p.region, time.Now())
}

// list lists what begins with prefix, with the delimiter if that is not empty,
// and returns how many keys there are.
func (p plain) list(ctx context.Context, prefix, delimiter string) (int, error) {
	query := url.Values{"list-type": {"2"}, "prefix": {prefix}, "encoding-type": {"url"}}
	if delimiter != "" {
		query.Set("delimiter", delimiter)
	}
	for keys := 0; ; {
		body, err := p.get(ctx, "", query)
		if err != nil {
			return 0, err
		}
		keys += bytes.Count(body, []byte("<Key>"))
		token := element(body, "NextContinuationToken")
		if token == "" {
			return keys, nil
		}
		query.Set("continuation-token", token)
	}
}

// element returns the content of the only XML element name of body, which must
// have no escapes; empty if there is none. It is no XML parser, which would
// take time of its own.
func element(body []byte, name string) string {
	_, rest, _ := bytes.Cut(body, []byte("<"+name+">"))
	content, _, _ := bytes.Cut(rest, []byte("</"+name+">"))
	return string(content)
}

// remote is what rclone makes of a store.
type remote struct{ fs fs.Fs }

// newRemote opens the store with rclone's library, which is to list with
// ListObjectsV2 as the others do.
func newRemote(ctx context.Context, s *store) (remote, error) {
	opened, err := fs.NewFs(ctx, fmt.Sprintf(
		":s3,provider=Other,list_version=2,force_path_style,no_check_bucket,endpoint=%q,region=%q,access_key_id=%q,secret_access_key=%q:%s/%s",
		s.endpoint, s.region, s.accessKeyID, s.secretAccessKey, s.bucket, s.prefix))
	if err != nil {
		return remote{}, fmt.Errorf("rclone: %w", err)
	}
	return remote{opened}, nil
}

// read reads a file that rclone has not seen yet: it asks what the object is,
// and then for its content.
func (r remote) read(ctx context.Context, name string) (int, error) {
	found, err := r.fs.NewObject(ctx, name)
	if err != nil {
		return 0, err
	}
	body, err := found.Open(ctx)
	if err != nil {
		return 0, err
	}
	defer body.Close()
	data, err := io.ReadAll(body)
	return len(data), err
}

// write writes a file.
func (r remote) write(ctx context.Context, name string, data []byte) (int, error) {
	info := object.NewStaticObjectInfo(name, time.Now(), int64(len(data)), true, nil, r.fs)
	_, err := r.fs.Put(ctx, bytes.NewReader(data), info)
	return len(data), err
}

// list lists one folder.
func (r remote) list(ctx context.Context, dir string) (int, error) {
	entries, err := r.fs.List(ctx, dir)
	return len(entries), err
}

// listRecursive lists all files below a folder, with as few requests as rclone can.
func (r remote) listRecursive(ctx context.Context, dir string) (int, error) {
	files := 0
	err := walk.ListR(ctx, r.fs, dir, true, -1, walk.ListObjects, func(entries fs.DirEntries) error {
		files += len(entries)
		return nil
	})
	return files, err
}
