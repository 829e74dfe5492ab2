package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"

	sdk "github.com/coder/acp-go-sdk"
)

// ConnectClient connects an editor with an agent: it is [sdk.NewClientSideConnection]
// with two of its faults mended. Version 0.13 of the SDK refuses to write an empty
// file, which needs a client that embeds [Files], and it breaks off the connection
// with a message of more than 10 MiB, which is answered with an error here. log gets
// what goes wrong in the protocol, which can have contents of files. Nil means that
// nobody does.
func ConnectClient(client sdk.Client, toAgent io.Writer, fromAgent io.Reader, log *slog.Logger) *sdk.ClientSideConnection {
	in := newWire(fromAgent)
	defer close(in.ready)
	conn := sdk.NewClientSideConnection(client, toAgent, in)
	conn.SetLogger(orDiscard(log))
	return conn
}

// ConnectAgent connects an agent with an editor: it is [sdk.NewAgentSideConnection],
// with long messages and log as for [ConnectClient]. If the agent has a method
// SetAgentConnection(*sdk.AgentSideConnection), it is called before the first message is
// read, so that no message comes to an agent that does not have its connection yet.
func ConnectAgent(agent sdk.Agent, toClient io.Writer, fromClient io.Reader, log *slog.Logger) *sdk.AgentSideConnection {
	in := newWire(fromClient)
	defer close(in.ready)
	conn := sdk.NewAgentSideConnection(agent, toClient, in)
	conn.SetLogger(orDiscard(log))
	if a, ok := agent.(interface {
		SetAgentConnection(*sdk.AgentSideConnection)
	}); ok {
		a.SetAgentConnection(conn)
	}
	return conn
}

// orDiscard returns log, or for nil one that writes nothing.
func orDiscard(log *slog.Logger) *slog.Logger {
	if log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return log
}

// maxMessage is how many bytes a message may have: one less, with its line feed, than
// what breaks off the connection.
const maxMessage = 10<<20 - 2

// maxHead is how much of a message is looked at, where that is not the whole. Of a message
// that is too long, it is both the beginning and the end.
const maxHead = 64 << 10

// wire are the messages of a peer, one a line, as the SDK understands them. Two kinds
// are changed:
//
//	{"id":1,"method":"fs/write_text_file","params":{"content":"",...}}
//	{"id":1,"method":"fs/write_text_file","params":{"content":" ","_meta":{emptyMark:true},...}}
//
// as SDK 0.13 demands a content, and
//
//	{"id":2,"method":"fs/write_text_file","params":{"content":"(more than 10 MiB)
//	{"id":2,"method":"a message of more than 10485758 bytes"}
//
// which the SDK answers with an error that has this text.
type wire struct {
	in    *bufio.Reader
	ready chan struct{} // closed when the connection is set up
	rest  []byte        // of the message that is being read
}

// newWire returns a wire that has read nothing yet.
func newWire(in io.Reader) *wire {
	return &wire{in: bufio.NewReaderSize(in, maxHead), ready: make(chan struct{})}
}

// Read implements [io.Reader].
func (w *wire) Read(p []byte) (int, error) {
	<-w.ready
	for len(w.rest) == 0 {
		line, long, err := w.line()
		switch {
		case err != nil:
			return 0, err
		case long:
			w.rest = shortened(line[:maxHead], line[maxHead:])
		default:
			w.rest = withContent(line)
		}
	}
	n := copy(p, w.rest)
	w.rest = w.rest[n:]
	return n, nil
}

// line returns the next line with its line feed. Of one that is too long, it returns
// the first maxHead bytes, and at least as many of the last.
func (w *wire) line() (line []byte, long bool, err error) {
	for {
		part, err := w.in.ReadSlice('\n')
		line = append(line, part...)
		if long = long || len(line) > maxMessage; long {
			line = slices.Delete(line, maxHead, len(line)-maxHead)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) > 0:
			return append(line, '\n'), long, nil
		}
		return line, long, err
	}
}

// shortened returns a message for a long one that begins with head and ends with tail, or
// nothing if it does not say whom it is for. Members before what is long, or after it, are
// enough.
func shortened(head, tail []byte) []byte {
	text := fmt.Sprintf("a message of more than %d bytes", maxMessage)
	var id json.RawMessage
	decoder := json.NewDecoder(bytes.NewReader(head))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return nil
	}
	request := false
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			break
		}
		request = request || key == "method" || key == "params"
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			break
		}
		if key == "id" {
			id = value
		}
	}
	if id == nil {
		id = lastID(tail)
	}
	if id == nil {
		return nil
	}
	answer := map[string]any{"jsonrpc": "2.0", "id": id, "error": sdk.NewInternalError(map[string]any{"details": text})}
	if request {
		answer = map[string]any{"jsonrpc": "2.0", "id": id, "method": text}
	}
	return marshalLine(answer)
}

// lastID returns the id of a message that ends with tail, or nil. What follows it must end
// the message, or it is in another object:
//
//	xxx"},"id":2,"jsonrpc":"2.0"}    has the id 2
//	xxx","id":2}}                    has none
func lastID(tail []byte) json.RawMessage {
	var members map[string]json.RawMessage
	at := bytes.LastIndex(tail, []byte(`"id"`))
	if at < 0 || json.Unmarshal(slices.Concat([]byte("{"), tail[at:]), &members) != nil {
		return nil
	}
	return members["id"]
}

// emptyMark is the key in the metadata of a write whose content was empty, and markedContent
// what such a write has for it. An agent that sends both itself writes an empty file.
const (
	emptyMark     = "io.github.workspacekit/empty"
	markedContent = " "
)

// withContent returns a message, in which a write has a content. It can go when the
// SDK takes an empty one.
func withContent(line []byte) []byte {
	if len(line) > maxHead || !bytes.Contains(line, []byte("write_text_file")) {
		return line
	}
	var message map[string]json.RawMessage
	var method string
	var params map[string]any
	if json.Unmarshal(line, &message) != nil || json.Unmarshal(message["method"], &method) != nil ||
		method != sdk.ClientMethodFsWriteTextFile || json.Unmarshal(message["params"], &params) != nil || params["content"] != "" {
		return line
	}
	meta, ok := params["_meta"].(map[string]any)
	if !ok {
		meta = map[string]any{}
	}
	meta[emptyMark] = true
	params["content"], params["_meta"] = markedContent, meta
	encoded, err := json.Marshal(params)
	if err != nil {
		return line
	}
	message["params"] = encoded
	return marshalLine(message)
}

// marshalLine returns a message that can be encoded as a line.
func marshalLine(message any) []byte {
	line, err := json.Marshal(message)
	if err != nil {
		return nil
	}
	return append(line, '\n')
}
