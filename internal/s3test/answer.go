package s3test

import (
	"net/http"
	"strconv"
)

// answer is a response, whole, before any of it is sent.
type answer struct {
	status int
	header http.Header
	body   []byte
	size   int64  // what a HEAD says is the length; the body is empty then
	length *int64 // what a fault makes of the length, negative for none; nil if there is no such fault
}

// send writes the status, the headers, which promise the whole body, and part.
func (a *answer) send(w http.ResponseWriter, part []byte) {
	header := w.Header()
	for name, values := range a.header {
		header[name] = values
	}
	length := max(a.size, int64(len(a.body)))
	if a.length != nil {
		length = *a.length
	}
	if length >= 0 && a.status != http.StatusNoContent && a.status != http.StatusNotModified {
		header.Set("Content-Length", strconv.FormatInt(length, 10))
	}
	w.WriteHeader(a.status)
	if flusher, ok := w.(http.Flusher); ok && length < 0 {
		flusher.Flush() // or a short body gets a length
	}
	w.Write(part) //nolint:errcheck // a client that has gone is no fault of the server
}

// plain is an answer without a body.
func plain(status int) *answer { return &answer{status: status, header: http.Header{}} }

// xmlAnswer ends d with its root element and answers with it.
func xmlAnswer(d *document, root string) *answer {
	d.close(root)
	a := plain(http.StatusOK)
	a.header.Set("Content-Type", "application/xml")
	a.body = d.Bytes()
	return a
}
