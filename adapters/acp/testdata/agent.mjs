// An agent made with the official TypeScript SDK. A prompt is a JSON list of requests,
// each a method with its parameters. The agent makes them one after the other, and
// answers with the list of what came of them.
//
// usage: node agent.mjs NODE_MODULES
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const acp = await import(pathToFileURL(join(process.argv[2], "@agentclientprotocol/sdk/dist/v1/stable/acp.js")));

acp
  .agent({ name: "test" })
  .onRequest(acp.methods.agent.initialize, ({ params }) => ({
    protocolVersion: params.protocolVersion,
    agentCapabilities: {},
    authMethods: [],
  }))
  .onRequest(acp.methods.agent.session.new, () => ({ sessionId: "s" }))
  .onRequest(acp.methods.agent.session.prompt, async ({ params, client }) => {
    const outcomes = [];
    for (const { method, params: sent } of JSON.parse(params.prompt[0].text)) {
      try {
        outcomes.push({ result: await client.request(method, sent) });
      } catch ({ code, message, data }) {
        outcomes.push({ error: { code, message, data } });
      }
    }
    await client.notify(acp.methods.client.session.update, {
      sessionId: params.sessionId,
      update: {
        sessionUpdate: "agent_message_chunk",
        content: { type: "text", text: JSON.stringify(outcomes) },
      },
    });
    return { stopReason: "end_turn" };
  })
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
