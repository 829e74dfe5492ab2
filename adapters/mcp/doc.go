// Package mcp serves the tools of a workspace by the Model Context Protocol
// (https://modelcontextprotocol.io), on the protocol's official Go SDK.
//
//	set, err := tools.New(ws, nil)
//	server := mcp.NewServer(set, nil)
//	err = mcp.Serve(ctx, server, os.Stdin, os.Stdout, nil)
//
// [NewServer] returns a server of the SDK, so other transports of the SDK can
// be used as well, and other features added. [AddTools] adds the tools to a server
// that somebody else has made.
//
// [Serve] and [ServeTools] answer one client on two streams. [ServeHTTP] answers many
// over streamable HTTP, each with a session of its own.
//
// # Results
//
// A result has the tool's compact text as its first content, an image or, as an
// embedded resource, a PDF document if it has one, and the structured result that the tool's outputSchema describes.
//
// A tool error is a result with isError set. Its text has the code, the
// message and the hint, for the model. It has no structuredContent: a schema
// that a tool declares is that of its success, and clients built on the
// protocol's TypeScript SDK refuse a result whose structured content does not
// match it, errors too. Programs find the error object, with its code, message,
// path, hint and retryable, in the result's metadata under [ErrorMetaKey].
//
// A protocol error is left for what no model can repair: a tool that does not
// exist, a message that is not one, a cancelled call.
//
// # Resources
//
// The files of a workspace that has a tool to read them are resources,
// workspace://NAME/PATH. Clients list them in pages, without what git ignores, complete
// their paths, and subscribe to their changes. The policies of the workspace hold.
//
// # Approvals
//
// Where a rule of package policy asks before an operation, the client is asked by
// elicitation: a form with [policy.Request].Text and the decisions "deny", "allow"
// and "allow for this session". Clients of the protocol version 2026-07-28 and later
// get the question as the result of the call, which waits until they call again, in the
// same session, with the answer; the others are asked while the call runs. A client that declares no elicitation, does
// not answer within [Options].ApprovalTimeout, cancels or disconnects allows nothing.
package mcp
