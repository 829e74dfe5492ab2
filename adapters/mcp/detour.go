package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// detour takes the large parts of results round the SDK, which encodes a result
// five times over: that takes ten times as long as reading a page of a file. A
// handler leaves a part here and gives the SDK a mark, a random string, in its
// place, and the connection puts the part in when it writes. What is between
// the two, such as middleware, sees the mark. A detour is safe for concurrent
// use.
type detour struct {
	mu    sync.Mutex
	parts map[string][]byte // guarded by mu; the JSON of each part, by its mark in quotes
}

// detourMin is the size from which a part goes round the SDK.
const detourMin = 4 << 10

// markLength is the length of a mark in quotes.
var markLength = len(rand.Text()) + len(`""`)

func newDetour() *detour { return &detour{parts: map[string][]byte{}} }

// detourKey is the key of a connection's detour in the context of its calls.
type detourKey struct{}

// shorten replaces the large parts of a result by marks, if the connection of
// the call has a detour for them.
func shorten(ctx context.Context, result *sdk.CallToolResult) *sdk.CallToolResult {
	d, ok := ctx.Value(detourKey{}).(*detour)
	if !ok {
		return result
	}
	if text, ok := result.Content[0].(*sdk.TextContent); ok && len(text.Text) >= detourMin {
		var encoded bytes.Buffer
		encoded.Grow(len(text.Text) + len(text.Text)/8)
		encoder := json.NewEncoder(&encoded)
		encoder.SetEscapeHTML(false)
		if encoder.Encode(text.Text) == nil {
			text.Text = d.leave(bytes.TrimSuffix(encoded.Bytes(), []byte("\n")))
		}
	}
	if structured, ok := result.StructuredContent.(json.RawMessage); ok && len(structured) >= detourMin {
		result.StructuredContent = d.leave(structured)
	}
	return result
}

// leave takes the JSON of a part and returns its mark.
func (d *detour) leave(part []byte) string {
	mark := rand.Text()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.parts[`"`+mark+`"`] = part
	return mark
}

// encode is [jsonrpc.EncodeMessage] with the parts in the place of their marks.
func (d *detour) encode(message jsonrpc.Message) ([]byte, error) {
	data, err := jsonrpc.EncodeMessage(message)
	if err != nil || d == nil {
		return data, err
	}
	if _, ok := message.(*jsonrpc.Response); !ok {
		return data, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	var pieces [][]byte
	for at := 0; len(d.parts) > 0 && len(data)-at >= markLength; {
		quote := bytes.IndexByte(data[at:], '"')
		if quote < 0 || len(data)-at-quote < markLength {
			break
		}
		at += quote
		part, ok := d.parts[string(data[at:at+markLength])]
		if !ok {
			at++
			continue
		}
		delete(d.parts, string(data[at:at+markLength]))
		pieces = append(pieces, data[:at], part)
		data, at = data[at+markLength:], 0
	}
	if pieces == nil {
		return data, nil
	}
	return bytes.Join(append(pieces, data), nil), nil
}
