// An editor made with the official TypeScript SDK. It opens one session, sends one
// prompt, and ends. "typed" are the files with text that is not saved, and "answers"
// the options that its user chooses.
//
// usage: node client.mjs NODE_MODULES FOLDER '{"typed": {"a.txt": "text"}, "answers": ["allow-once"]}'
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [modules, folder, script] = process.argv.slice(2);
const acp = await import(pathToFileURL(join(modules, "@agentclientprotocol/sdk/dist/v1/stable/acp.js")));
const { typed, answers } = JSON.parse(script);
const open = new Map(Object.entries(typed).map(([name, text]) => [join(folder, name), text]));

await acp
  .client({ name: "test" })
  .onRequest(acp.methods.client.fs.readTextFile, async ({ params }) => {
    try {
      return { content: open.get(params.path) ?? (await readFile(params.path, "utf8")) };
    } catch {
      throw acp.RequestError.resourceNotFound(params.path);
    }
  })
  .onRequest(acp.methods.client.fs.writeTextFile, async ({ params }) => {
    open.delete(params.path);
    await mkdir(dirname(params.path), { recursive: true });
    await writeFile(params.path, params.content);
    return {};
  })
  .onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
    const optionId = answers.shift();
    if (!params.options.some((option) => option.optionId === optionId)) {
      return { outcome: { outcome: "cancelled" } };
    }
    return { outcome: { outcome: "selected", optionId } };
  })
  .onNotification(acp.methods.client.session.update, () => {})
  .connectWith(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)), async (agent) => {
    await agent.request(acp.methods.agent.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientCapabilities: { fs: { readTextFile: true, writeTextFile: true } },
    });
    const { sessionId } = await agent.request(acp.methods.agent.session.new, { cwd: folder, mcpServers: [] });
    await agent.request(acp.methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text: "go" }] });
  });
process.exit(0);
