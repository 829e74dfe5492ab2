package s3test_test

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// scenarios are the rows of the comparison. The real server they know is
// versitygw 1.8.0 on a file system.
func scenarios() []scenario {
	return slices.Concat(objectScenarios(), conditionScenarios(), listScenarios(), copyScenarios(), uploadScenarios(), refusedScenarios())
}

// etag returns the ETag of text.
func etag(text string) string {
	sum := md5.Sum([]byte(text))
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

func contentMD5(text string) string {
	sum := md5.Sum([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// differs returns r, whose answers differ by the lines of ours and real.
func differs(r request, why string, ours, real []string) request {
	r.why, r.ours, r.real = why, ours, real
	return r
}

func lines(lines ...string) []string { return lines }

func putRow(key, body string) request {
	return request{does: "put " + key, method: "PUT", path: "/" + key, body: body}
}

func objectScenarios() []scenario {
	ranged := func(header string) request {
		return request{does: "range " + header, method: "GET", path: "/a", header: map[string]string{"Range": header}}
	}
	return []scenario{
		{"object", []request{
			{does: "get nothing", method: "GET", path: "/a"},
			{does: "head nothing", method: "HEAD", path: "/a"},
			{does: "delete nothing", method: "DELETE", path: "/a"},
			putRow("a", "hello"),
			{does: "get", method: "GET", path: "/a"},
			{does: "head", method: "HEAD", path: "/a"},
			putRow("a", ""),
			{does: "get empty", method: "GET", path: "/a"},
			{does: "range of empty", method: "GET", path: "/a", header: map[string]string{"Range": "bytes=0-"}},
			differs(request{does: "suffix of empty", method: "GET", path: "/a", header: map[string]string{"Range": "bytes=-1"}}, `versitygw sends the whole of an empty object`,
				lines(`status 416`, `Error/Code=InvalidRange`), lines(`status 200`, `Etag: "d41d8cd98f00b204e9800998ecf8427e"`)),
			{does: "delete", method: "DELETE", path: "/a"},
			{does: "get deleted", method: "GET", path: "/a"},
		}},
		{"metadata", []request{
			{does: "put", method: "PUT", path: "/a", body: "hello", header: map[string]string{
				"x-amz-meta-mode": "0644", "x-amz-meta-Other-Thing": "two  words", "Content-Type": "text/plain", "Cache-Control": "no-store"}},
			{does: "head", method: "HEAD", path: "/a"},
			{does: "get", method: "GET", path: "/a"},
			{does: "override", method: "GET", path: "/a", query: "response-cache-control=no-cache"},
		}},
		{"range", []request{
			putRow("a", "0123456789"),
			ranged("bytes=0-0"), ranged("bytes=2-5"), ranged("bytes=5-"), ranged("bytes=-3"), ranged("bytes=-30"),
			ranged("bytes=8-30"), ranged("bytes=10-"), ranged("bytes=10-12"), ranged("bytes=-0"), ranged("bytes=5-2"),
			ranged("bytes=a-b"), ranged("lines=1-2"), ranged("bytes=0-1,3-4"),
			{does: "head with a range", method: "HEAD", path: "/a", header: map[string]string{"Range": "bytes=2-5"}},
		}},
		{"digests", []request{
			{does: "right md5", method: "PUT", path: "/a", body: "hello", header: map[string]string{"Content-Md5": contentMD5("hello")}},
			{does: "wrong md5", method: "PUT", path: "/a", body: "hello", header: map[string]string{"Content-Md5": contentMD5("other")}},
			{does: "malformed md5", method: "PUT", path: "/a", body: "hello", header: map[string]string{"Content-Md5": "xx"}},
			{does: "right crc32", method: "PUT", path: "/a", body: "hello", header: map[string]string{"x-amz-checksum-crc32": "NhCmhg=="}},
			{does: "get with checksum", method: "GET", path: "/a", header: map[string]string{"x-amz-checksum-mode": "ENABLED"}},
			{does: "range with checksum", method: "GET", path: "/a",
				header: map[string]string{"x-amz-checksum-mode": "ENABLED", "Range": "bytes=0-1"}},
			{does: "get without checksum", method: "GET", path: "/a"},
			{does: "wrong crc32", method: "PUT", path: "/a", body: "hello", header: map[string]string{"x-amz-checksum-crc32": "AAAAAA=="}},
			{does: "malformed crc32", method: "PUT", path: "/a", body: "hello", header: map[string]string{"x-amz-checksum-crc32": "AAA="}},
			{does: "two checksums", method: "PUT", path: "/a", body: "hello",
				header: map[string]string{"x-amz-checksum-crc32": "NhCmhg==", "x-amz-checksum-crc32c": "mnG7TA=="}},
			{does: "crc64nvme", method: "PUT", path: "/a", body: "123456789", header: map[string]string{"x-amz-checksum-crc64nvme": "rosUhgp5mIg="}},
			{does: "head with checksum", method: "HEAD", path: "/a", header: map[string]string{"x-amz-checksum-mode": "ENABLED"}},
		}},
	}
}

func conditionScenarios() []scenario {
	with := func(does, method, name, value string) request {
		return request{does: does, method: method, path: "/a", header: map[string]string{name: value}, body: bodyOf(method)}
	}
	return []scenario{
		{"conditional read", []request{
			putRow("a", "hello"),
			with("same etag", "GET", "If-Match", etag("hello")),
			with("bare etag", "GET", "If-Match", strings.Trim(etag("hello"), `"`)),
			with("any etag", "GET", "If-Match", "*"),
			with("other etag", "GET", "If-Match", etag("other")),
			with("head other etag", "HEAD", "If-Match", etag("other")),
			differs(with("not this etag", "GET", "If-None-Match", etag("hello")), `versitygw leaves the ETag out of a 304`,
				lines(`Etag: "5d41402abc4b2a76b9719d911017c592"`), nil),
			with("not that etag", "GET", "If-None-Match", etag("other")),
			differs(with("head not this etag", "HEAD", "If-None-Match", etag("hello")), `versitygw leaves the ETag out of a 304`,
				lines(`Etag: "5d41402abc4b2a76b9719d911017c592"`), nil),
			with("modified since long ago", "GET", "If-Modified-Since", "Sat, 01 Jan 2000 00:00:00 GMT"),
			with("modified since the future", "GET", "If-Modified-Since", "Fri, 01 Jan 2100 00:00:00 GMT"),
			with("unmodified since long ago", "GET", "If-Unmodified-Since", "Sat, 01 Jan 2000 00:00:00 GMT"),
			with("unmodified since the future", "GET", "If-Unmodified-Since", "Fri, 01 Jan 2100 00:00:00 GMT"),
			{does: "etag outdoes time", method: "GET", path: "/a", header: map[string]string{
				"If-Match": etag("hello"), "If-Unmodified-Since": "Sat, 01 Jan 2000 00:00:00 GMT"}},
		}},
		{"conditional write", []request{
			with("replace nothing", "PUT", "If-Match", etag("hello")),
			with("create", "PUT", "If-None-Match", "*"),
			with("create again", "PUT", "If-None-Match", "*"),
			with("replace another", "PUT", "If-Match", etag("other")),
			with("replace", "PUT", "If-Match", etag("hello")),
			with("not that etag", "PUT", "If-None-Match", etag("other")),
			with("delete another", "DELETE", "If-Match", etag("other")),
			with("delete", "DELETE", "If-Match", etag("hello")),
			differs(with("delete nothing", "DELETE", "If-Match", etag("hello")), `versitygw overlooks the condition if there is nothing to delete`,
				lines(`status 412`, `Error/Code=PreconditionFailed`), lines(`status 204`)),
			differs(with("delete any of nothing", "DELETE", "If-Match", "*"), `versitygw overlooks the condition if there is nothing to delete`,
				lines(`status 412`, `Error/Code=PreconditionFailed`), lines(`status 204`)),
		}},
	}
}

func bodyOf(method string) string {
	if method == "PUT" {
		return "hello"
	}
	return ""
}

func listScenarios() []scenario {
	list := func(does, query string) request {
		return request{does: does, method: "GET", query: "list-type=2&" + query}
	}
	return []scenario{
		{"empty list", []request{list("all", ""), list("delimiter", "delimiter=/")}},
		{"list", []request{
			putRow("a-b", "1"), putRow("a/b", "2"), putRow("a/c/d", "3"), putRow("a/c/e", "4"), putRow("ab", "5"), putRow("b/x", "6"), putRow("c", "7"),
			list("all", ""), list("delimiter", "delimiter=/"), list("prefix", "prefix=a"), list("folder", "prefix=a/&delimiter=/"),
			list("nothing", "prefix=zz"), list("long delimiter", "delimiter=/c/"), list("other delimiter", "delimiter=b"),
			list("max 0", "max-keys=0"), list("max 2", "max-keys=2"), list("rest", "max-keys=2&continuation-token={token}"),
			list("exactly all", "max-keys=7"), list("max 5000", "max-keys=5000"), list("max -1", "max-keys=-1"), list("max x", "max-keys=x"),
			list("max 2 folders", "max-keys=2&delimiter=/"), list("rest of folders", "max-keys=5&delimiter=/&continuation-token={token}"),
			list("start after key", "start-after=a/b"), list("start after nothing", "start-after=a/bb"), list("start after all", "start-after=z"),
			differs(list("start after a folder", "start-after=a/&delimiter=/"), `versitygw leaves out a common prefix that start-after begins with`,
				lines(`ListBucketResult/KeyCount=4`, `CommonPrefixes/Prefix=a/`), lines(`ListBucketResult/KeyCount=3`)), differs(list("start in a folder", "start-after=a/b&delimiter=/"), `versitygw leaves out a common prefix that start-after begins with`,
				lines(`ListBucketResult/KeyCount=4`, `CommonPrefixes/Prefix=a/`), lines(`ListBucketResult/KeyCount=3`)),
			list("start after a name", "start-after=a&delimiter=/"),
			list("start in a folder with a prefix", "prefix=a/&start-after=a/b&delimiter=/"),
			differs(list("encoding", "encoding-type=url&prefix=a/&delimiter=/"), `versitygw ignores encoding-type`,
				lines(`ListBucketResult/EncodingType=url`), nil), differs(list("other encoding", "encoding-type=base64&prefix=zz"), `versitygw ignores encoding-type`,
				lines(`status 400`, `Error/Code=InvalidArgument`), lines(`status 200`, `ListBucketResult/Prefix=zz`, `ListBucketResult/KeyCount=0`, `ListBucketResult/MaxKeys=1000`, `ListBucketResult/IsTruncated=false`)),
			differs(list("wrong token", "continuation-token=%21&prefix=zz"), `versitygw takes any key as a continuation token`,
				lines(`status 400`, `Error/Code=InvalidArgument`), lines(`status 200`, `ListBucketResult/Prefix=zz`, `ListBucketResult/KeyCount=0`, `ListBucketResult/MaxKeys=1000`, `ListBucketResult/IsTruncated=false`)), list("fetch-owner", "fetch-owner=true&max-keys=1"),
			{does: "head bucket", method: "HEAD"},
			{does: "delete bucket", method: "DELETE"},
			{does: "location", method: "GET", query: "location"},
		}},
		{"delete objects", []request{
			putRow("a", "1"), putRow("b", "2"), putRow("c", "3"),
			deleteRow("without digest", "<Delete><Object><Key>a</Key></Object></Delete>", false),
			deleteRow("two", "<Delete><Object><Key>a</Key></Object><Object><Key>nothing</Key></Object></Delete>", true),
			differs(deleteRow("quiet", "<Delete><Quiet>true</Quiet><Object><Key>b</Key></Object></Delete>", true), `versitygw ignores Quiet`,
				nil, lines(`Deleted/Key=b`)),
			differs(deleteRow("none", "<Delete></Delete>", true), `versitygw takes a list of nothing`,
				lines(`status 400`, `Error/Code=MalformedXML`), lines(`status 200`)),
			differs(deleteRow("malformed", "<Delete>", true), `versitygw has another code for it`,
				lines(`Error/Code=MalformedXML`), lines(`Error/Code=InvalidRequest`)),
			differs(deleteRow("too many", "<Delete>"+strings.Repeat("<Object><Key>a</Key></Object>", 1001)+"</Delete>", true), `versitygw has no limit`,
				lines(`status 400`, `Error/Code=MalformedXML`), lines(`status 200`, `Deleted/Key=a`)),
			{does: "list", method: "GET", query: "list-type=2"},
		}},
		{"keys", []request{
			putRow("a%20b", "1"), putRow("a%2Bb", "2"), putRow("%C3%BC", "3"), putRow("p%25q", "4"), putRow("x%26y%3Cz", "5"), putRow("w%3Fx", "7"),
			{does: "list", method: "GET", query: "list-type=2"},
			differs(request{does: "list encoded", method: "GET", query: "list-type=2&encoding-type=url"}, `versitygw ignores encoding-type`,
				lines(`ListBucketResult/EncodingType=url`, `Contents/Key=a%2Bb`, `Contents/Key=p%25q`, `Contents/Key=w%3Fx`, `Contents/Key=x%26y%3Cz`, `Contents/Key=%C3%BC`), lines(`Contents/Key=a b`, `Contents/Key=p%q`, `Contents/Key=w?x`, `Contents/Key=x&y<z`, `Contents/Key=ü`)),
			{does: "get", method: "GET", path: "/a%20b"},
			putRow("%01", "6"),
			differs(request{does: "list control character", method: "GET", query: "list-type=2&prefix=%01"}, `versitygw replaces what XML cannot say, where Amazon writes a reference that parsers refuse`,
				lines(`xml XML syntax error on line 2: illegal character code U+0001`), lines(`ListBucketResult/Prefix=�`, `ListBucketResult/KeyCount=1`, `ListBucketResult/MaxKeys=1000`, `ListBucketResult/IsTruncated=false`, `Contents/ETag="1679091c5a880faf6fb5e6087eb1b2dc"`, `Contents/Key=�`, `Contents/Size=1`)),
			{does: "delete control character", method: "DELETE", path: "/%01"},
			putRow(strings.Repeat("k", 1025), ""),
		}},
		{"paths", []request{
			putRow("x", "1"),
			differs(putRow("x/y", "2"), `a file has nothing below it`,
				lines(`status 200`, `Etag: "c81e728d9d4c2f636f067f89cc14862c"`, `X-Amz-Checksum-Crc64nvme: oiawmxZFJVk=`, `X-Amz-Checksum-Type: FULL_OBJECT`), lines(`status 409`, `Error/Code=ObjectParentIsFile`)),
			putRow("z/../up", "3"),
			putRow("d//e", "4"),
			putRow("dir/", ""),
			differs(request{does: "get up", method: "GET", path: "/up"}, `versitygw resolves ".."`,
				lines(`status 404`, `Error/Code=NoSuchKey`), lines(`status 200`, `Etag: "eccbc87e4b5ce2fe28308fd9f2a7baf3"`, `body 3`)),
			differs(request{does: "list", method: "GET", query: "list-type=2"}, `versitygw keeps files, not keys`,
				lines(`ListBucketResult/KeyCount=5`, `Contents/Key=d//e`, `Contents/Key=x/y`, `Contents/ETag="c81e728d9d4c2f636f067f89cc14862c"`, `Contents/Key=z/../up`), lines(`ListBucketResult/KeyCount=4`, `Contents/Key=d/e`, `Contents/Key=up`)),
		}},
	}
}

func deleteRow(does, body string, digest bool) request {
	r := request{does: does, method: "POST", query: "delete", body: body}
	if digest {
		r.header = map[string]string{"Content-Md5": contentMD5(body)}
	}
	return r
}

func copyScenarios() []scenario {
	copied := func(does, source string, more ...string) request {
		r := request{does: does, method: "PUT", path: "/b", header: map[string]string{"x-amz-copy-source": source}}
		for i := 0; i < len(more); i += 2 {
			r.header[more[i]] = more[i+1]
		}
		return r
	}
	toItself := copied("to itself", "{bucket}/a")
	toItself.path = "/a"
	toItselfReplaced := copied("to itself with metadata", "{bucket}/a", "x-amz-metadata-directive", "REPLACE", "x-amz-meta-m", "2")
	toItselfReplaced.path = "/a"
	return []scenario{{"copy", []request{
		{does: "put a", method: "PUT", path: "/a", body: "hello", header: map[string]string{"x-amz-meta-m": "1"}},
		putRow("s%20p%2B", "space"),
		copied("copy", "{bucket}/a"),
		{does: "get", method: "GET", path: "/b"},
		copied("leading slash", "/{bucket}/a"),
		copied("replace metadata", "{bucket}/a", "x-amz-metadata-directive", "REPLACE", "x-amz-meta-n", "2"),
		{does: "get replaced", method: "GET", path: "/b"},
		copied("escaped", "{bucket}/s%20p%2B"),
		copied("nothing", "{bucket}/nothing"),
		copied("no bucket", "no-such-bucket-here/a"),
		copied("no key", "{bucket}"),
		copied("same etag", "{bucket}/a", "x-amz-copy-source-if-match", etag("hello")),
		copied("other etag", "{bucket}/a", "x-amz-copy-source-if-match", etag("other")),
		differs(copied("not this etag", "{bucket}/a", "x-amz-copy-source-if-none-match", etag("hello")), `versitygw answers a copy like a GET`,
			lines(`status 412`, `Error/Code=PreconditionFailed`), lines(`status 304`)),
		copied("modified since the future", "{bucket}/a", "x-amz-copy-source-if-modified-since", "Fri, 01 Jan 2100 00:00:00 GMT"),
		copied("unmodified since long ago", "{bucket}/a", "x-amz-copy-source-if-unmodified-since", "Sat, 01 Jan 2000 00:00:00 GMT"),
		differs(copied("destination exists", "{bucket}/a", "If-None-Match", "*"), `versitygw ignores conditions on the destination of a copy`,
			lines(`status 412`, `Error/Code=PreconditionFailed`), lines(`status 200`, `CopyObjectResult/ETag="5d41402abc4b2a76b9719d911017c592"`)),
		differs(copied("destination differs", "{bucket}/a", "If-Match", etag("other")), `versitygw ignores conditions on the destination of a copy`,
			lines(`status 412`, `Error/Code=PreconditionFailed`), lines(`status 200`, `CopyObjectResult/ETag="5d41402abc4b2a76b9719d911017c592"`)),
		copied("wrong directive", "{bucket}/a", "x-amz-metadata-directive", "MERGE"),
		toItself, toItselfReplaced,
		{does: "head a", method: "HEAD", path: "/a"},
	}}}
}

func uploadScenarios() []scenario {
	part := func(does, number, body string) request {
		return request{does: does, method: "PUT", path: "/m", query: "partNumber=" + number + "&uploadId={upload}", body: body}
	}
	complete := func(does string, parts ...string) request {
		body := "<CompleteMultipartUpload>"
		for i := 0; i < len(parts); i += 2 {
			body += "<Part><PartNumber>" + parts[i] + "</PartNumber><ETag>" + parts[i+1] + "</ETag></Part>"
		}
		return request{does: does, method: "POST", path: "/m", query: "uploadId={upload}", body: body + "</CompleteMultipartUpload>"}
	}
	conditional := func(r request, name, value string) request {
		r.header = map[string]string{name: value}
		return r
	}
	begin := request{does: "begin", method: "POST", path: "/m", query: "uploads"}
	listParts := request{does: "list parts", method: "GET", path: "/m", query: "uploadId={upload}"}
	large := strings.Repeat("0123456789abcdef", 5<<20/16)
	return []scenario{
		{"upload", []request{
			begin, part("part 1", "1", large), part("part 2", "2", "tail"), part("part 0", "0", "x"), part("part 10001", "10001", "x"),
			listParts,
			{does: "list uploads", method: "GET", query: "uploads"},
			differs(complete("wrong order", "2", etag("tail"), "1", etag(large)), `versitygw looks at the sizes first`,
				lines(`Error/Code=InvalidPartOrder`), lines(`Error/Code=EntityTooSmall`)),
			complete("wrong etag", "1", etag("other"), "2", etag("tail")),
			complete("missing part", "1", etag(large), "3", etag("tail")),
			complete("no parts"),
			complete("complete", "1", etag(large), "2", etag("tail")),
			{does: "head", method: "HEAD", path: "/m"},
			{does: "tail", method: "GET", path: "/m", header: map[string]string{"Range": "bytes=-6"}},
			complete("complete again", "1", etag(large), "2", etag("tail")),
			{does: "abort completed", method: "DELETE", path: "/m", query: "uploadId={upload}"},
		}},
		{"small parts", []request{
			begin, part("part 1", "1", "small"), part("part 2", "2", "tail"),
			complete("too small", "1", etag("small"), "2", etag("tail")),
			complete("one small part", "1", etag("small")),
			{does: "get", method: "GET", path: "/m"},
		}},
		{"conditional upload", []request{
			putRow("m", "hello"), begin, part("part 1", "1", "new"),
			conditional(complete("create", "1", etag("new")), "If-None-Match", "*"),
			conditional(complete("replace another", "1", etag("new")), "If-Match", etag("other")),
			conditional(complete("replace", "1", etag("new")), "If-Match", etag("hello")),
		}},
		{"aborted upload", []request{
			begin, part("part 1", "1", "new"),
			{does: "abort", method: "DELETE", path: "/m", query: "uploadId={upload}"},
			{does: "abort again", method: "DELETE", path: "/m", query: "uploadId={upload}"},
			part("part of aborted", "1", "new"), complete("complete aborted", "1", etag("new")), listParts,
			{does: "get", method: "GET", path: "/m"},
		}},
		{"copied parts", []request{
			putRow("a", "0123456789"), begin,
			part("part 1 at first", "1", "first"),
			conditional(part("part 1", "1", ""), "x-amz-copy-source", "{bucket}/a"),
			{does: "range behind the end", method: "PUT", path: "/m", query: "partNumber=1&uploadId={upload}",
				header: map[string]string{"x-amz-copy-source": "{bucket}/a", "x-amz-copy-source-range": "bytes=2-10"}},
			differs(request{does: "open range", method: "PUT", path: "/m", query: "partNumber=1&uploadId={upload}",
				header: map[string]string{"x-amz-copy-source": "{bucket}/a", "x-amz-copy-source-range": "bytes=2-"}}, `versitygw takes a range without an end`,
				lines(`status 400`, `Error/Code=InvalidArgument`), lines(`status 200`, `CopyPartResult/ETag="4428c6c474502e61151877825bb41961"`)),
			{does: "other etag", method: "PUT", path: "/m", query: "partNumber=1&uploadId={upload}",
				header: map[string]string{"x-amz-copy-source": "{bucket}/a", "x-amz-copy-source-if-match": etag("other")}},
			{does: "range", method: "PUT", path: "/m", query: "partNumber=1&uploadId={upload}",
				header: map[string]string{"x-amz-copy-source": "{bucket}/a", "x-amz-copy-source-range": "bytes=2-5"}},
			complete("complete", "1", etag("2345")),
			{does: "get", method: "GET", path: "/m"},
		}},
	}
}

func refusedScenarios() []scenario {
	return []scenario{{"refused", []request{
		{does: "list without a bucket", method: "GET", path: "-not", query: "list-type=2"},
		{does: "put without a bucket", method: "PUT", path: "-not/a", body: "hello"},
		{does: "head without a bucket", method: "HEAD", path: "-not"},
		{does: "delete without a bucket", method: "DELETE", path: "-not/a"},
		{does: "bucket name", method: "PUT", path: "_UPPER"},
		{does: "unknown method", method: "PATCH", path: "/a"},
		{does: "large metadata", method: "PUT", path: "/a", header: map[string]string{"x-amz-meta-m": strings.Repeat("m", 2049)}},
	}}}
}
