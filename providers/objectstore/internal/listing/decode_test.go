package listing_test

import (
	"encoding/xml"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/providers/objectstore/internal/listing"
)

// document is a listing as encoding/xml reads it.
type document struct {
	XMLName               xml.Name `xml:"ListBucketResult"`
	IsTruncated           bool
	NextContinuationToken string
	EncodingType          string
	Contents              []struct {
		Key, ETag    string
		Size         int64
		LastModified time.Time
	}
	CommonPrefixes []struct{ Prefix string }
}

// listed returns what encoding/xml finds in text, in the words of
// [listing.DecodeList].
func (d document) listed() listing.Listed {
	l := listing.Listed{Truncated: d.IsTruncated, Token: d.NextContinuationToken, Encoding: d.EncodingType}
	for _, c := range d.Contents {
		l.Objects = append(l.Objects, listing.ListedObject{Key: c.Key, ETag: c.ETag, Size: c.Size, Modified: c.LastModified})
	}
	for _, p := range d.CommonPrefixes {
		l.Prefixes = append(l.Prefixes, p.Prefix)
	}
	return l
}

const sample = `<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
  <Name>bucket</Name><Prefix>a&amp;b/</Prefix><MaxKeys>3</MaxKeys><Delimiter/><KeyCount>3</KeyCount>
  <IsTruncated>true</IsTruncated>
  <NextContinuationToken>1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=</NextContinuationToken>
  <EncodingType>url</EncodingType>
  <Contents>
    <Key>a&amp;b/&lt;x&gt; &quot;&apos;&#39;&#xE9;é</Key>
    <LastModified>2011-02-26T01:56:20.123Z</LastModified>
    <ETag>&quot;bf1d737a4d46a19f3bced6905cc8b902&quot;</ETag>
    <Owner><ID>owner</ID><DisplayName>Key</DisplayName></Owner>
    <ChecksumAlgorithm>CRC32</ChecksumAlgorithm>
    <Size>142863</Size><StorageClass>STANDARD</StorageClass>
  </Contents>
  <Contents><Key> spaced </Key><LastModified>2011-02-26T01:56:20+02:00</LastModified><ETag>"plain"</ETag><Size>0</Size></Contents>
  <CommonPrefixes><Prefix>a&amp;b/c/</Prefix></CommonPrefixes>
  <CommonPrefixes><Prefix></Prefix></CommonPrefixes>
</ListBucketResult>
`

func TestDecodeListAsEncodingXML(t *testing.T) {
	for name, text := range map[string]string{
		"full":        sample,
		"empty":       `<ListBucketResult></ListBucketResult>`,
		"closed":      `<ListBucketResult/>`,
		"declaration": "<?xml version=\"1.0\"?>\n\n<ListBucketResult\n></ListBucketResult  >\n",
		"false":       `<ListBucketResult><IsTruncated> false </IsTruncated></ListBucketResult>`,
		"unknown":     `<ListBucketResult><New a="1" b="2"><Key>x</Key></New><Contents><New><Key>x</Key></New><Key>y</Key></Contents></ListBucketResult>`,
	} {
		t.Run(name, func(t *testing.T) {
			got, err := listing.DecodeList([]byte(text))
			if err != nil {
				t.Fatalf("decodeList = %v, want nil", err)
			}
			var want document
			if err := xml.Unmarshal([]byte(text), &want); err != nil {
				t.Fatalf("encoding/xml refuses the document: %v", err)
			}
			if diff := cmp.Diff(want.listed(), got); diff != "" {
				t.Errorf("decodeList differs from encoding/xml (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDecodeListControl reads what encoding/xml cannot.
func TestDecodeListControl(t *testing.T) {
	got, err := listing.DecodeList([]byte(`<ListBucketResult><Contents><Key>a&#x1;b&#10;</Key></Contents></ListBucketResult>`))
	if err != nil || len(got.Objects) != 1 || got.Objects[0].Key != "a\x01b\n" {
		t.Errorf("decodeList = %+v, %v, want the key %q", got, err, "a\x01b\n")
	}
}

// TestDecodeListRefuses takes no other answer for an empty listing.
func TestDecodeListRefuses(t *testing.T) {
	cut, _, _ := strings.Cut(sample, "<CommonPrefixes>")
	for name, text := range map[string]string{
		"nothing":        "",
		"text":           "It works!",
		"page":           "<!DOCTYPE html><html><body>It works!</body></html>",
		"other-element":  "<Error><Code>SlowDown</Code></Error>",
		"cut":            sample[:len(sample)/2],
		"cut-at-a-tag":   cut,
		"cut-in-a-tag":   sample[:len(sample)-3],
		"twice":          "<ListBucketResult></ListBucketResult><ListBucketResult></ListBucketResult>",
		"text-behind":    "<ListBucketResult></ListBucketResult>x",
		"crossed":        "<ListBucketResult><Contents><Key>a</Contents></Key></ListBucketResult>",
		"unopened":       "</ListBucketResult>",
		"cdata":          "<ListBucketResult><Contents><Key><![CDATA[a]]></Key></Contents></ListBucketResult>",
		"quoted-bracket": `<ListBucketResult a="x>y"></ListBucketResult>`,
		"no-reference":   "<ListBucketResult><Contents><Key>a&b</Key></Contents></ListBucketResult>",
		"new-reference":  "<ListBucketResult><Contents><Key>&nbsp;</Key></Contents></ListBucketResult>",
		"size":           "<ListBucketResult><Contents><Size>many</Size></Contents></ListBucketResult>",
		"time":           "<ListBucketResult><Contents><LastModified>now</LastModified></Contents></ListBucketResult>",
		"deep":           "<ListBucketResult>" + strings.Repeat("<a>", 100),
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := listing.DecodeList([]byte(text)); err == nil {
				t.Errorf("decodeList(%q) = %+v, want an error", text, got)
			}
		})
	}
}

// TestDecodeEndless reads pages without end that do not advance: they are empty, or have a key that
// the store may spell otherwise.
func TestDecodeEndless(t *testing.T) {
	for _, entry := range []string{"", "<Contents><Key>d/\ufffd</Key><ETag>0123</ETag></Contents>"} {
		q := listing.Query{Prefix: "d/"}
		var err error
		for i := 0; err == nil && i < 10_000; i++ {
			var p listing.Page
			p, err = listing.Decode(fmt.Appendf(nil, "<ListBucketResult><IsTruncated>true</IsTruncated>"+
				"<NextContinuationToken>%d</NextContinuationToken>%s</ListBucketResult>", i, entry), q)
			q = q.Next(p)
		}
		if err == nil {
			t.Errorf("Decode reads 10,000 pages of %q, want an error", entry)
		}
	}
}

// FuzzDecodeList compares with encoding/xml whatever both of them read.
func FuzzDecodeList(f *testing.F) {
	f.Add(sample)
	f.Add(`<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>`)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := listing.DecodeList([]byte(text))
		if err != nil || strings.ContainsAny(text, "\r:") {
			return // line ends and name spaces are more than is needed
		}
		var want document
		if err := xml.Unmarshal([]byte(text), &want); err != nil {
			return
		}
		if diff := cmp.Diff(want.listed(), got); diff != "" {
			t.Errorf("decodeList(%q) differs from encoding/xml (-want +got):\n%s", text, diff)
		}
	})
}
