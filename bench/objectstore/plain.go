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
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	signer "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// plain sends signed requests and decodes nothing of their answers, so it
// takes what the server and the network take, and the least of any client.
type plain struct {
	*store
	http   *http.Client
	signer *signer.Signer
}

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
// have no escapes; empty if there is none.
func element(body []byte, name string) string {
	_, rest, _ := bytes.Cut(body, []byte("<"+name+">"))
	content, _, _ := bytes.Cut(rest, []byte("</"+name+">"))
	return string(content)
}
