// Package acp connects workspaces with the Agent Client Protocol
// (https://agentclientprotocol.com), by which editors talk to coding agents, on the
// protocol's Go SDK. It has both ends.
//
// # The editor's end
//
// [Files] serves the two methods for files, fs/read_text_file and
// fs/write_text_file, from a workspace. It is embedded in the [sdk.Client] of an
// editor, which is connected by [ConnectClient]:
//
//	files, err := acp.NewFiles(ws, nil)
//	conn := acp.ConnectClient(editor{Files: files}, toAgent, fromAgent, nil)
//	answer, err := conn.Initialize(ctx, sdk.InitializeRequest{
//		ProtocolVersion:    sdk.ProtocolVersionNumber,
//		ClientCapabilities: sdk.ClientCapabilities{Fs: files.Capabilities()},
//	})
//
// The agent is not trusted: see [Files].
//
// # The agent's end
//
// [FS] is a [workspace.FileSystem] for an agent: what the editor shows, laid over the
// same files in a folder or any other FileSystem. An agent is connected by
// [ConnectAgent]:
//
//	conn := acp.ConnectAgent(agent, os.Stdout, os.Stdin, nil)
//	fsys, err := acp.NewFS(local, conn, session, clientCapabilities.Fs, nil)
//	ws := workspace.New("main", fsys, nil)
//
// An agent with a method SetAgentConnection gets its connection by it, before the first
// message. What the editor answers is not trusted either: see [FS]. A [Caller] calls tools,
// reports the calls to the client, and asks it where a rule asks.
package acp
