package s3test

import (
	"crypto/md5"
	"encoding/base64"
	"net/http"
	"strings"
)

const (
	encryptionHeader = "X-Amz-Server-Side-Encryption"
	customerHeader   = encryptionHeader + "-Customer-"
	sourceHeader     = "X-Amz-Copy-Source-Server-Side-Encryption-Customer-"
)

// encryption is what a client sees of how an object is encrypted. The server
// keeps the content as it is.
type encryption struct {
	header   http.Header // of the answers about the object
	customer string      // the MD5 sum of the customer's key; empty for none
}

// hidesSum reports whether the ETag is not the MD5 sum of the content.
func (e encryption) hidesSum() bool {
	return e.customer != "" || e.header.Get(encryptionHeader) == "aws:kms"
}

// encryption returns how the request asks for an object to be encrypted.
func (c *call) encryption() (encryption, error) {
	customer, err := c.customerKey(customerHeader)
	if err != nil {
		return encryption{}, err
	}
	e := encryption{header: http.Header{}, customer: customer}
	if customer != "" {
		e.header.Set(customerHeader+"Algorithm", "AES256")
		e.header.Set(customerHeader+"Key-Md5", customer)
	}
	for _, name := range []string{"", "-Aws-Kms-Key-Id", "-Bucket-Key-Enabled"} {
		if value := c.header(encryptionHeader + name); value != "" {
			e.header.Set(encryptionHeader+name, value)
		}
	}
	if algorithm := e.header.Get(encryptionHeader); algorithm != "" && algorithm != "AES256" && algorithm != "aws:kms" {
		return encryption{}, invalidArgument("The encryption method specified is not supported", "x-amz-server-side-encryption", algorithm)
	}
	return e, nil
}

// customerKey returns the MD5 sum of the key in the headers that begin with
// prefix, empty if there is none.
func (c *call) customerKey(prefix string) (string, error) {
	algorithm, key, sum := c.header(prefix+"Algorithm"), c.header(prefix+"Key"), c.header(prefix+"Key-Md5")
	if algorithm+key+sum == "" {
		return "", nil
	}
	bytes, err := base64.StdEncoding.DecodeString(key)
	actual := md5.Sum(bytes)
	switch {
	case c.r.TLS == nil:
		return "", invalidRequest("Requests specifying Server Side Encryption with Customer provided keys must be made over a secure connection.")
	case algorithm != "AES256" || err != nil || len(bytes) != 32 || base64.StdEncoding.EncodeToString(actual[:]) != sum:
		return "", invalidArgument("The key of the encryption is not valid.", strings.ToLower(prefix+"Key"), "")
	}
	return sum, nil
}

// checkKey refuses a request about an object whose content it does not show the
// key of, in the headers that begin with prefix.
func (c *call) checkKey(e encryption, prefix string) error {
	key, err := c.customerKey(prefix)
	switch {
	case err != nil:
		return err
	case key == "" && e.customer != "":
		return invalidRequest("The object was stored using a form of Server Side Encryption. The correct parameters must be provided to retrieve the object.")
	case key != "" && e.customer == "":
		return invalidRequest("The encryption parameters are not applicable to this object.")
	case key != e.customer:
		return accessDenied("Access Denied")
	}
	return nil
}

// encrypt sets how o is encrypted. id is the request's: the ETag of a content
// that is encrypted with another's key differs with each write.
func (o *object) encrypt(e encryption, id string) {
	o.encryption = e
	if e.hidesSum() && !strings.Contains(o.etag, "-") {
		o.etag = quoted(md5Hex(append([]byte(id), o.data...)))
	}
}
