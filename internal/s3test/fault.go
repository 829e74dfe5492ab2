package s3test

import (
	"net"
	"net/http"
	"strconv"
	"time"
)

// Fault is what goes wrong with one request. The zero Fault is nothing. Delay
// goes with any other, and Edit with Truncate; of the others the first one that
// is set counts.
type Fault struct {
	// Delay is how long the request waits before anything else happens to it.
	// It ends early when the client goes or the server is closed.
	Delay time.Duration
	// Reset resets the connection instead of serving the request. Go's HTTP
	// client sends a GET again by itself if that happens on a connection that
	// it used before.
	Reset bool
	// Unread resets the connection before the body of the request is read, as a
	// server may that has refused the request already.
	Unread bool
	// Status answers with this status instead of serving the request; Code
	// and Message go into the body of the error.
	Status        int
	Code, Message string
	// Instead is the answer to the request, which is not served.
	Instead *Answer
	// Hang serves the request and never answers. It ends as Stall does.
	Hang bool
	// ResetAfter serves the request and resets the connection instead of
	// answering: the client cannot know whether it was served.
	ResetAfter bool
	// Truncate serves the request and cuts the connection after so many bytes
	// of the answer's body, whose Content-Length promises the whole. A body
	// that is no longer than that comes whole. Zero means no such fault.
	Truncate int
	// Stall serves the request and sends the headers and half of the body of
	// the answer; the rest never comes. Of an answer without a body nothing is
	// sent. It ends when the client goes or the server is closed.
	Stall bool
	// Edit serves the request and changes the answer.
	Edit func(*Answer)
}

// Answer is what a fault makes of an answer. Edit may set every field. It must
// not change bytes of Body in place: they may be those of the object.
type Answer struct {
	Status int
	Header http.Header // without Content-Length
	Body   []byte
	// Length is the Content-Length. Negative means that there is none, and the
	// body is sent in chunks. Before a fault edits the answer it is the length of
	// the body, or, in the answer to a HEAD, the size of the object.
	Length int64
}

// sent returns the answer as it goes to the client.
func (a *Answer) sent() *answer {
	header := a.Header
	if header == nil {
		header = http.Header{}
	}
	return &answer{status: a.Status, header: header, body: a.Body, length: &a.Length}
}

// Inject makes the server ask fault about each request before it serves it.
// fault is called by many requests at a time. Nil ends the faults. It may call
// methods of the server. A request that has begun keeps its fault.
func (s *Server) Inject(fault func(Request) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inject = fault
}

// faultFor returns the fault that a test wants for a request.
func (s *Server) faultFor(request Request) Fault {
	s.mu.Lock()
	inject := s.inject
	s.mu.Unlock()
	if inject == nil {
		return Fault{}
	}
	return inject(request)
}

// before does what fault does before the request is served. It returns the
// answer that the fault gives instead, if any.
func (s *Server) before(c *call, fault Fault) *answer {
	s.delay(c, fault.Delay)
	switch {
	case fault.Reset:
		s.record(c.request)
		reset(c.w)
	case fault.Status != 0:
		return c.refuse(&apiError{status: fault.Status, code: fault.Code, message: fault.Message})
	case fault.Instead != nil:
		instead := *fault.Instead // shared with other requests
		instead.Header = instead.Header.Clone()
		return instead.sent()
	}
	return nil
}

// delay waits for d, unless there is nobody left to wait for.
func (s *Server) delay(c *call, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.r.Context().Done():
		panic(http.ErrAbortHandler)
	case <-s.closed:
		panic(http.ErrAbortHandler)
	}
}

// deliver sends the part of a that fault lets through.
//
// Each way out records the request before the client can see what becomes of
// it. A handler that panics with [http.ErrAbortHandler] makes package http
// close the connection without the rest of the answer.
func (s *Server) deliver(c *call, a *answer, fault Fault) {
	if fault.Hang {
		s.record(c.request)
		s.hang(c)
	}
	if fault.Edit != nil {
		edited := &Answer{Status: a.status, Header: a.header, Body: a.body, Length: max(a.size, int64(len(a.body)))}
		fault.Edit(edited)
		a = edited.sent()
	}
	body := a.body
	switch {
	case fault.ResetAfter:
		s.record(c.request)
		reset(c.w)
	case fault.Truncate > 0:
		body = body[:min(fault.Truncate, len(body))]
	case fault.Stall:
		body = body[:len(body)/2]
	}
	c.request.Status, c.request.BytesSent = a.status, int64(len(body))
	s.record(c.request)
	if fault.Stall && len(a.body) == 0 {
		s.hang(c)
	}
	a.send(c.w, body)
	if len(body) == len(a.body) {
		return
	}
	c.flush()
	if fault.Stall {
		s.hang(c)
	}
	panic(http.ErrAbortHandler)
}

// send writes the status, the headers, which promise the whole body, and part.
//
// Content-Length is for the whole answer although part may be shorter: that is how
// a client notices a cut.
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

// flush sends what was written so far.
func (c *call) flush() {
	if flusher, ok := c.w.(http.Flusher); ok {
		flusher.Flush()
	}
}

// hang waits until nobody waits for the answer any more, and ends the handler.
func (s *Server) hang(c *call) {
	select {
	case <-c.r.Context().Done():
	case <-s.closed:
	}
	panic(http.ErrAbortHandler)
}

// reset ends the connection of w with a TCP reset, and the handler.
//
// The client gets ECONNRESET, as from a crashed server or a firewall. With the
// usual FIN it would see the end of the stream, which its HTTP library may
// treat otherwise.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		if wrapped, ok := conn.(interface{ NetConn() net.Conn }); ok {
			conn = wrapped.NetConn() // no farewell from TLS either
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // else it is closed in the common way
		}
		conn.Close()
	}
	panic(http.ErrAbortHandler)
}
