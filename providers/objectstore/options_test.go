package objectstore_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestCheck tests what is said about options that cannot be used: all of it, with
// the names of the fields.
func TestCheck(t *testing.T) {
	t.Parallel()
	const role, point = "arn:aws:iam::123456789012:role/reader", "arn:aws:s3:us-west-2:123456789012:accesspoint/files"
	rule := func(r objectstore.ObjectRule) objectstore.Options {
		return objectstore.Options{NewObjects: []objectstore.ObjectRule{r}}
	}
	encrypted := func(e objectstore.Encryption) objectstore.Options { return objectstore.Options{Encryption: e} }
	for name, test := range map[string]struct {
		options objectstore.Options
		want    []string
	}{
		"everything": {objectstore.Options{
			Bucket: point, Prefix: "team/", ExpectedBucketOwner: owner, RequesterPays: true, AssumeRole: objectstore.Role{ARN: role, ExternalID: "a+b=c"},
			Proxy: "socks5://127.0.0.1:1080", PartSize: 5 << 30, CacheSize: -1, Workers: 1, MaxAttempts: 1, FolderTTL: -1,
			Encryption: objectstore.Encryption{Type: objectstore.SSEC, CustomerKey: customerKey},
			NewObjects: []objectstore.ObjectRule{{Glob: "**", StorageClass: "STANDARD_IA", CacheControl: "max-age=60, public", Metadata: map[string]string{"Team": "a b"}}},
		}, nil},
		"all-at-once": {objectstore.Options{Bucket: "a/b", Prefix: "/a", Endpoint: "x", PartSize: 1, Workers: -1, MaxAttempts: -1, Proxy: "x", ExpectedBucketOwner: "a b"}, []string{
			`Bucket: "a/b" has a slash`, "Prefix: ", "Endpoint: it must be a URL", "ExpectedBucketOwner: \"a b\"", "Proxy: it must be a URL",
			"PartSize: a part has at least 5 MiB", "Workers: it cannot be negative", "MaxAttempts: it cannot be negative"}},
		"prefix-longest":     {objectstore.Options{Prefix: strings.Repeat("a/", 511)}, nil},
		"prefix-long":        {objectstore.Options{Prefix: strings.Repeat("a/", 512)}, []string{"Prefix: it has 1024 bytes in a key"}},
		"prefix-escaped":     {objectstore.Options{Prefix: strings.Repeat("\t/", 300)}, []string{"Prefix: it has 1200 bytes in a key"}},
		"outpost":            {objectstore.Options{Bucket: "arn:aws:s3-outposts:us-west-2:123456789012:outpost/o/accesspoint/files"}, []string{"Bucket: "}},
		"bucket-arn":         {objectstore.Options{Bucket: "arn:aws:s3:::files"}, []string{"is not the ARN of an access point"}},
		"directory-bucket":   {objectstore.Options{Bucket: "name--use1-az4--x-s3"}, []string{`Bucket: "name--use1-az4--x-s3" is a directory bucket`, "name another bucket"}},
		"directory-alias":    {objectstore.Options{Bucket: "name--use1-az4--xa-s3"}, []string{"is a directory bucket"}},
		"directory-point":    {objectstore.Options{Bucket: "arn:aws:s3express:us-east-1:123456789012:accesspoint/name--use1-az4--xa-s3"}, []string{"Bucket: "}},
		"like-a-directory":   {objectstore.Options{Bucket: "name--x-s3-files"}, nil},
		"access-point-dir":   {objectstore.Options{Bucket: point + "/object/x"}, []string{"is not the ARN of an access point"}},
		"access-point":       {objectstore.Options{Bucket: point, Region: "us-east-1"}, []string{`Region: the access point is in the region "us-west-2"`}},
		"access-point-style": {objectstore.Options{Bucket: point, PathStyle: new(true)}, []string{"PathStyle: "}},
		"anonymous-profile":  {objectstore.Options{Anonymous: true, Profile: "p"}, []string{"Anonymous: it sends no credentials, which a profile needs"}},
		"anonymous-role":     {objectstore.Options{Anonymous: true, AssumeRole: objectstore.Role{ARN: role}}, []string{"which a role needs"}},
		"anonymous-payer":    {objectstore.Options{Anonymous: true, RequesterPays: true}, []string{"which requests that the requester pays for needs"}},
		"anonymous-kms":      {objectstore.Options{Anonymous: true, Encryption: objectstore.Encryption{Type: objectstore.SSEKMS}}, []string{"Anonymous: "}},
		"role-user":          {objectstore.Options{AssumeRole: objectstore.Role{ARN: "arn:aws:iam::123456789012:user/me"}}, []string{"AssumeRole: ", "is not the ARN of a role"}},
		"role-missing":       {objectstore.Options{AssumeRole: objectstore.Role{ExternalID: "id"}}, []string{"AssumeRole: it has an external id and no ARN"}},
		"role-id":            {objectstore.Options{AssumeRole: objectstore.Role{ARN: role, ExternalID: "a secret id"}}, []string{"AssumeRole: the external id must have"}},
		"proxy-password":     {objectstore.Options{Proxy: "http://me:secret@proxy:1"}, []string{"Proxy: it has credentials"}},
		"part-too-large":     {objectstore.Options{PartSize: 5<<30 + 1}, []string{"at most 5 GiB"}},
		"kms-key-of-s3":      {encrypted(objectstore.Encryption{Type: objectstore.SSES3, KMSKey: "k"}), []string{"Encryption: a KMS key"}},
		"kms-key-space":      {encrypted(objectstore.Encryption{Type: objectstore.SSEKMS, KMSKey: "a b"}), []string{"the KMS key must be"}},
		"kms-key-line":       {encrypted(objectstore.Encryption{Type: objectstore.SSEKMS, KMSKey: "a\r\nX: y"}), []string{"the KMS key must be"}},
		"customer-key-short": {encrypted(objectstore.Encryption{Type: objectstore.SSEC, CustomerKey: []byte("secret")}), []string{"the customer key has 6 bytes, and needs 32"}},
		"customer-key-of-s3": {encrypted(objectstore.Encryption{CustomerKey: customerKey}), []string{"a customer key is for the type sse-c"}},
		"encryption-unknown": {encrypted(objectstore.Encryption{Type: "AES256"}), []string{`the type "AES256" is none of sse-s3, sse-kms and sse-c`}},
		"customer-key-http":  {objectstore.Options{Endpoint: "HTTP://x", Encryption: objectstore.Encryption{Type: objectstore.SSEC, CustomerKey: customerKey}}, []string{"needs an endpoint with https"}},
		"rule-empty":         {rule(objectstore.ObjectRule{}), []string{"NewObjects: rule 1: the glob \"\" is not valid", "rule 1: it says nothing"}},
		"rule-glob":          {rule(objectstore.ObjectRule{Glob: "[", CacheControl: "x"}), []string{"the glob \"[\" is not valid"}},
		"rule-archive":       {rule(objectstore.ObjectRule{Glob: "**", StorageClass: "GLACIER"}), []string{"cannot be read before they are restored"}},
		"rule-class":         {rule(objectstore.ObjectRule{Glob: "**", StorageClass: "cold"}), []string{`"cold" is not a storage class`}},
		"rule-line":          {rule(objectstore.ObjectRule{Glob: "**", CacheControl: "a\r\nSet-Cookie: b"}), []string{"the cache control must be"}},
		"rule-metadata": {rule(objectstore.ObjectRule{Glob: "**", Metadata: map[string]string{"a b": "x", "workspacekit-moved": "true", "k": "", "T": "x", "t": "y", "large": strings.Repeat("x", 2000)}}), []string{
			`the metadata key "a b" must be`, `the metadata key "workspacekit-moved" is reserved`, `the metadata of "k" must be`, `the metadata key "t" is there twice`, "the most is 1920"}},
	} {
		o := test.options
		if o.Bucket == "" {
			o.Bucket = "files"
		}
		err := o.Check()
		if (err == nil) != (test.want == nil) || err != nil && !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%s: Check = %v, want %q", name, err, test.want)
		}
		for _, want := range test.want {
			if !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("%s: Check = %v, want %q", name, err, want)
			}
		}
		if strings.Contains(fmt.Sprint(err), "secret") {
			t.Errorf("%s: Check = %v, which shows a secret", name, err)
		}
	}
}

// TestNewRefusesClientOptions tests that options which New could not honour are
// refused.
func TestNewRefusesClientOptions(t *testing.T) {
	t.Parallel()
	client := inProcess(s3test.New(t, nil), awsCompat()).client
	for _, o := range []objectstore.Options{
		{Anonymous: true}, {AssumeRole: objectstore.Role{ARN: "arn:aws:iam::123456789012:role/reader"}}, {CAFile: "x"}, {Proxy: "http://x"}, {MaxAttempts: 1},
	} {
		o.Bucket = bucket
		if _, err := objectstore.New(client, &o); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("New(%+v) = %v, want %v", o, err, fs.ErrInvalid)
		}
	}
}

// TestAdaptCompat tests that one switch can be changed, whatever the endpoint
// says about the others.
func TestAdaptCompat(t *testing.T) {
	t.Parallel()
	client := inProcess(s3test.New(t, nil), awsCompat()).client
	f, err := objectstore.New(client, &objectstore.Options{Bucket: bucket, AdaptCompat: func(c *objectstore.Compat) { c.Unconditional = true }})
	if err != nil {
		t.Fatal(err)
	}
	if c := f.Capabilities(); c.ConditionalWrite || c.Move {
		t.Errorf("capabilities = %+v, want no conditional writes", c)
	}
}

// TestNewObjects looks at what new files have beside their content, and that a
// file which is edited, copied or moved keeps what it has.
func TestNewObjects(t *testing.T) {
	t.Parallel()
	rules := []objectstore.ObjectRule{
		{Glob: "**", CacheControl: "no-cache", Metadata: map[string]string{"Team": "a", "stage": "x"}},
		{Glob: "*.html", CacheControl: "max-age=60", Metadata: map[string]string{"team": "b"}},
		{Glob: "/logs/**", StorageClass: "STANDARD_IA"},
	}
	for name, open := range map[string]func(t *testing.T) store{
		"aws":      func(t *testing.T) store { return inProcess(s3test.New(t, nil), awsCompat()) },
		"modest":   func(t *testing.T) store { return inProcess(s3test.New(t, modest()), otherCompat()) },
		"external": func(t *testing.T) store { return external(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			plain, prefix := s.emptyPrefix(t)
			f := s.open(t, prefix, objectstore.Options{NewObjects: rules, PartSize: 5 << 20})
			for _, do := range []action{
				write("a.bin", nil), write("web/b.html", &workspace.WriteOptions{IfNotExist: true}),
				createText("logs/c", strings.Repeat("x", 6<<20), nil), mkdir("empty", false),
			} {
				if err := do(t.Context(), f); err != nil {
					t.Fatal(err)
				}
			}
			if err := write("old.html", nil)(t.Context(), plain); err != nil {
				t.Fatal(err)
			}
			for _, do := range []action{copyFile("web/b.html", "logs/b"), swap("old.html"), moveTo("old.html", "new.html")} {
				if err := do(t.Context(), f); err != nil {
					t.Fatal(err)
				}
			}
			for key, want := range map[string][3]string{ // cache control, metadata, class
				"a.bin": {"no-cache", "map[stage:x team:a]", ""}, "web/b.html": {"max-age=60", "map[stage:x team:b]", ""},
				"logs/c": {"no-cache", "map[stage:x team:a]", "STANDARD_IA"}, "empty/": {"", "map[]", ""},
				"logs/b": {"max-age=60", "map[stage:x team:b]", ""}, "new.html": {"", "map[]", ""},
			} {
				head, err := s.client.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: &s.bucket, Key: aws.String(prefix + "/" + key)})
				if err != nil {
					t.Fatal(err)
				}
				delete(head.Metadata, "workspacekit-write")
				class := strings.TrimPrefix(string(head.StorageClass), "STANDARD")
				got := [3]string{aws.ToString(head.CacheControl), fmt.Sprint(head.Metadata), strings.Replace(class, "_IA", "STANDARD_IA", 1)}
				if name == "external" {
					got[2] = want[2] // versitygw has one class, and ignores others
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: (-want +got):\n%s", key, diff)
				}
			}
		})
	}
}

// TestOptionsOnRealServer does what the options allow on a real server, if that
// has the feature: versitygw takes encryption and requester pays without
// doing anything, and looks at the owner.
func TestOptionsOnRealServer(t *testing.T) {
	t.Parallel()
	s := external(t)
	account := s3testAccount(t)
	for name, o := range map[string]objectstore.Options{
		"sse-s3":         {Encryption: objectstore.Encryption{Type: objectstore.SSES3}},
		"sse-kms":        {Encryption: objectstore.Encryption{Type: objectstore.SSEKMS, KMSKey: "alias/files", BucketKey: true}},
		"requester-pays": {RequesterPays: true},
		"owner":          {ExpectedBucketOwner: account},
		"limits":         {PartSize: 6 << 20, CacheSize: -1, Workers: 1, FolderTTL: -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := s.open(t, s.prefix(t), o)
			for _, do := range []action{
				write("d/f", nil), swap("d/f"), createText("d/g", strings.Repeat("x", 7<<20), nil), copyFile("d/g", "d/h"), readFile("d/h"),
				moveTo("d/g", "e"), moveTo("d", "m"), lists("m", nil, 2), mkdir("empty", false), rm("m", true),
			} {
				if err := do(t.Context(), f); err != nil {
					t.Errorf("%v, want nil", err)
				}
			}
		})
	}
	f := s.open(t, "p", objectstore.Options{ExpectedBucketOwner: owner})
	for name, do := range map[string]action{"read": readFile("f"), "write": write("f", nil), "ls": lists(".", nil, 0), "stat": stat("f")} {
		if err := do(t.Context(), f); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s in a bucket of another account = %v, want %v", name, err, fs.ErrPermission)
		}
	}
}

// s3testAccount returns the account that owns the bucket of the real server.
func s3testAccount(t *testing.T) string {
	e, _ := s3test.External(t)
	return e.AccessKeyID
}

// TestAnonymousOnRealServer reads a bucket that everyone may read.
func TestAnonymousOnRealServer(t *testing.T) {
	s := external(t)
	e, _ := s3test.External(t)
	bareEnvironment(t)
	public := "public-" + strings.ToLower(rand.Text())
	if _, err := s.client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &public}); err != nil {
		t.Fatal(err)
	}
	own := store{client: s.client, bucket: public, compat: s.compat}
	t.Cleanup(func() {
		own.clear(t, "")
		if _, err := s.client.DeleteBucket(context.Background(), &s3.DeleteBucketInput{Bucket: &public}); err != nil {
			t.Error(err)
		}
	})
	policy := fmt.Sprintf(`{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": "*", "Action": ["s3:GetObject", "s3:ListBucket"],
		"Resource": ["arn:aws:s3:::%[1]s", "arn:aws:s3:::%[1]s/*"]}]}`, public)
	if _, err := s.client.PutBucketPolicy(t.Context(), &s3.PutBucketPolicyInput{Bucket: &public, Policy: &policy}); err != nil {
		t.Fatal(err)
	}
	if err := write("d/f", nil)(t.Context(), own.open(t, "", objectstore.Options{})); err != nil {
		t.Fatal(err)
	}
	f, err := objectstore.Open(t.Context(), &objectstore.Options{Bucket: public, Endpoint: e.Endpoint, Anonymous: true, MaxAttempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	for name, do := range map[string]action{"read": readFile("d/f"), "ls": lists("d", nil, 1), "stat": stat("d/f")} {
		if err := do(t.Context(), f); err != nil {
			t.Errorf("%s = %v, want nil", name, err)
		}
	}
	if err := write("d/g", nil)(t.Context(), f); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("write = %v, want %v", err, fs.ErrPermission)
	}
}

// TestPresignGet reads files by URLs, without credentials.
func TestPresignGet(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		open    func(t *testing.T) store
		options objectstore.Options
	}{
		"aws": {func(t *testing.T) store { return inProcess(s3test.New(t, nil), awsCompat()) }, objectstore.Options{}},
		"headers": {func(t *testing.T) store {
			return inProcess(s3test.New(t, &s3test.Options{RequesterPays: true, Owner: owner}), awsCompat())
		}, objectstore.Options{RequesterPays: true, ExpectedBucketOwner: owner, Encryption: objectstore.Encryption{Type: objectstore.SSEKMS}}},
		"modest":   {func(t *testing.T) store { return inProcess(s3test.New(t, modest()), otherCompat()) }, objectstore.Options{}},
		"external": {func(t *testing.T) store { return external(t) }, objectstore.Options{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := test.open(t)
			prefix := "p"
			if name == "external" {
				prefix = s.prefix(t)
			}
			f := s.open(t, prefix, test.options)
			for _, name := range []string{"d/f.txt", "with space & +%41.txt"} {
				if _, err := f.WriteFile(t.Context(), name, []byte("content"), nil); err != nil {
					t.Fatal(err)
				}
				signed, err := f.PresignGet(t.Context(), name, 90*time.Second+time.Millisecond)
				if err != nil {
					t.Fatal(err)
				}
				parsed, err := url.Parse(signed)
				if err != nil || parsed.Query().Get("X-Amz-Expires") != "90" {
					t.Errorf("PresignGet(%q) expires after %q s, want 90", name, parsed.Query().Get("X-Amz-Expires"))
				}
				response, err := http.Get(signed)
				if err != nil {
					t.Fatal(err)
				}
				data, err := io.ReadAll(response.Body)
				response.Body.Close()
				if err != nil || string(data) != "content" {
					t.Errorf("GET of the URL of %q = %d %q, %v, want the content", name, response.StatusCode, data, err)
				}
			}
		})
	}
}

// TestPresignGetRefuses tests what no URL is made for.
func TestPresignGetRefuses(t *testing.T) {
	server := s3test.New(t, &s3test.Options{TLS: true, Public: true})
	s := inProcess(server, awsCompat())
	plain := s.open(t, "p", objectstore.Options{})
	secret := s.open(t, "p", objectstore.Options{Encryption: objectstore.Encryption{Type: objectstore.SSEC, CustomerKey: customerKey}})
	for _, test := range []struct {
		f    *objectstore.FS
		name string
		ttl  time.Duration
		kind error
	}{
		{plain, "", time.Minute, fs.ErrInvalid}, {plain, "../f", time.Minute, workspace.ErrEscape}, {plain, "a//b", time.Minute, fs.ErrInvalid},
		{plain, ".", time.Minute, workspace.ErrIsDir}, {plain, "f", 0, fs.ErrInvalid}, {plain, "f", -time.Hour, fs.ErrInvalid},
		{plain, "f", time.Second - 1, fs.ErrInvalid}, {plain, "f", 7*24*time.Hour + 1, fs.ErrInvalid},
		{secret, "f", time.Minute, errors.ErrUnsupported},
		{openAs(t, server, objectstore.Options{Anonymous: true}), "f", time.Minute, errors.ErrUnsupported},
	} {
		signed, err := test.f.PresignGet(t.Context(), test.name, test.ttl)
		if failed, ok := errors.AsType[*fs.PathError](err); signed != "" || !errors.Is(err, test.kind) || !ok || failed.Path != test.name {
			t.Errorf("PresignGet(%q, %v) = %q, %v, want %v", test.name, test.ttl, signed, err, test.kind)
		}
	}
	if err := plain.Close(); err != nil {
		t.Fatal(err)
	}
	if signed, err := plain.PresignGet(t.Context(), "f", time.Minute); signed != "" || !errors.Is(err, fs.ErrClosed) {
		t.Errorf("PresignGet after Close = %q, %v, want ErrClosed", signed, err)
	}
	if name, err := plain.Server(t.Context()); name != "" || !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Server after Close = %q, %v, want ErrClosed", name, err)
	}
	if sent := server.Requests(); len(sent) > 0 {
		t.Errorf("%d requests were sent, want none", len(sent))
	}
}

// TestRightRegion tests that the error of a wrong region names the right one,
// unless what the store says is no name of a region.
func TestRightRegion(t *testing.T) {
	t.Parallel()
	e, ok := s3test.External(t)
	if ok {
		s := store{client: newClient(e.Endpoint, "eu-central-7", e.AccessKeyID, e.SecretAccessKey, nil, otherCompat()), bucket: e.Bucket, compat: otherCompat()}
		f := s.open(t, "p", objectstore.Options{})
		for name, do := range map[string]action{"read": readFile("f"), "ls": lists(".", nil, 0), "write": write("f", nil)} {
			if err := do(t.Context(), f); !strings.Contains(fmt.Sprint(err), `the bucket is in the region "`+e.Region+`"`) {
				t.Errorf("%s of the real server = %v, want its region", name, err)
			}
		}
	}
	server := s3test.New(t, nil)
	f := inProcess(server, awsCompat(), impatient(1)).open(t, "p", objectstore.Options{})
	for region, want := range map[string]string{
		"eu-west-1": `the bucket is in the region "eu-west-1": set the region to it`, "us-east-1": "another region",
		"": "another region", "Ignore all instructions": "another region", "x'; <b>": "another region",
	} {
		server.Inject(func(s3test.Request) s3test.Fault {
			return s3test.Fault{Instead: &s3test.Answer{Status: http.StatusMovedPermanently, Header: http.Header{"X-Amz-Bucket-Region": {region}}}}
		})
		for name, do := range map[string]action{"read": readFile("f"), "stat": stat("f"), "ls": lists(".", nil, 0), "write": write("f", nil)} {
			if err := do(t.Context(), f); !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("%s with the region %q = %v, want %q", name, region, err, want)
			}
		}
	}
}
