package mcp

import (
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// What is wrong with a line, in words for whoever writes the client.
var (
	errNotJSON = errors.New("parse error: the line is not one valid JSON value; send one message per line")
	errBatch   = errors.New("invalid request: this version of the protocol has no batches; send one message per line")
	errEmpty   = errors.New("invalid request: the batch is empty")
	errID      = errors.New("invalid request: an id is a string or a whole number")
)

// decode reads the message of a line.
func decode(line []byte) (jsonrpc.Message, error) {
	switch {
	case !json.Valid(line):
		return nil, errNotJSON
	case hasFraction(line):
		return nil, errID
	}
	return jsonrpc.DecodeMessage(line)
}

// hasFraction reports whether the id of a message is a number with a fraction,
// which the SDK would cut off, or one that is too large for it.
func hasFraction(line []byte) bool {
	var message struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(line, &message) != nil || len(message.ID) == 0 || message.ID[0] != '-' && (message.ID[0] < '0' || message.ID[0] > '9') {
		return false
	}
	var id int64
	return json.Unmarshal(message.ID, &id) != nil
}

// refusal is the answer to a line that is not a message.
func refusal(line []byte, err error) []byte {
	answer := struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *jsonrpc.Error  `json:"error"`
	}{"2.0", requestID(line), &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}}
	if errors.Is(err, errNotJSON) {
		answer.Error.Code = jsonrpc.CodeParseError
	}
	// All of it has been decoded from JSON or is a constant.
	data, _ := json.Marshal(answer)
	return data
}

// requestID returns the id that line has, or null, so that a client that waits
// for an answer learns that there is none.
func requestID(line []byte) json.RawMessage {
	var request struct {
		ID any `json:"id"`
	}
	if json.Unmarshal(line, &request) != nil {
		return json.RawMessage("null")
	}
	if _, err := jsonrpc.MakeID(request.ID); err != nil || hasFraction(line) {
		return json.RawMessage("null")
	}
	id, err := json.Marshal(request.ID)
	if err != nil {
		return json.RawMessage("null")
	}
	return id
}
