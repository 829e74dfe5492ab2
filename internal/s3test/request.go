package s3test

import (
	"net/http"
	"net/url"
	"slices"
)

// Request is a request as the server saw it.
type Request struct {
	// Op is the name of the operation in Amazon's reference, such as
	// "ListObjectsV2". It is empty for what is no operation of this server.
	Op string
	// Bucket and Key are what the request is about, decoded; either may be
	// empty.
	Bucket, Key string
	// Query and Header are as they were sent. They are the server's, to be
	// read only.
	Query  url.Values
	Header http.Header
	// Status is what was answered, zero if the connection was cut instead.
	Status int
	// BytesSent counts the bytes of the answer's body, sent or cut off.
	BytesSent int64
}

// Requests returns what the server has answered since it started, or since
// [Server.ResetRequests], in the order of the answers. What a client has an
// answer to is in it.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// ResetRequests forgets the requests so far.
func (s *Server) ResetRequests() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = nil
}

func (s *Server) record(request Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, request)
}
