package mcp

import (
	"bytes"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	methodInitialize = "initialize"
	// batchVersion is the only version of the protocol that has batches, and
	// that demands of a server to take them:
	// https://modelcontextprotocol.io/specification/2025-03-26/basic#batching
	batchVersion = "2025-03-26"
)

// batches collects the answers to the requests that came in one array, which
// are sent in one array. The zero batches has none. It is not safe for
// concurrent use.
type batches struct {
	initialize jsonrpc.ID // of the request that negotiates the version
	agreed     bool       // the version has batches
	pending    map[jsonrpc.ID]*batch
}

// batch is one array of requests.
type batch struct {
	waiting int
	answers [][]byte
}

// open returns the messages of a batch. answers is not nil if nothing in it
// waits for an answer of the server, and some of it has been refused.
func (b *batches) open(line []byte) (messages []jsonrpc.Message, answers []byte, err error) {
	var elements []json.RawMessage
	switch {
	case !b.agreed:
		return nil, nil, errBatch
	case json.Unmarshal(line, &elements) != nil:
		return nil, nil, errNotJSON
	case len(elements) == 0:
		return nil, nil, errEmpty
	}
	opened := &batch{}
	for _, element := range elements {
		message, err := decode(element)
		if err != nil {
			opened.answers = append(opened.answers, refusal(element, err))
			continue
		}
		messages = append(messages, message)
		if request, ok := message.(*jsonrpc.Request); ok && request.IsCall() {
			b.wait(request.ID, opened)
		}
	}
	if opened.waiting == 0 && len(opened.answers) > 0 {
		return messages, opened.array(), nil
	}
	return messages, nil, nil
}

// wait notes that the answer to id belongs to a batch.
func (b *batches) wait(id jsonrpc.ID, opened *batch) {
	if b.pending == nil {
		b.pending = map[jsonrpc.ID]*batch{}
	}
	if b.pending[id] == nil { // an id that is there twice gets two answers, the second by itself
		b.pending[id] = opened
		opened.waiting++
	}
}

// answered returns what to send for response, which is encoded as data: data
// itself, the answers of its batch if that waits for no other, or nil.
func (b *batches) answered(response *jsonrpc.Response, data []byte) []byte {
	if response.ID == b.initialize && response.Error == nil {
		var result struct {
			ProtocolVersion string `json:"protocolVersion"`
		}
		b.agreed = json.Unmarshal(response.Result, &result) == nil && result.ProtocolVersion == batchVersion
		b.initialize = jsonrpc.ID{}
	}
	in := b.pending[response.ID]
	if in == nil {
		return data
	}
	delete(b.pending, response.ID)
	in.answers = append(in.answers, bytes.Clone(data)) // whose buffer the next answer gets
	if in.waiting--; in.waiting > 0 {
		return nil
	}
	return in.array()
}

// array returns the answers as one JSON array.
func (b *batch) array() []byte {
	return append(append([]byte{'['}, bytes.Join(b.answers, []byte{','})...), ']')
}
