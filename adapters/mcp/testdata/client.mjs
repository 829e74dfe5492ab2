// The script of clients_test.go for the official TypeScript SDK:
//
//	node client.mjs NODE_MODULES DIR (URL | COMMAND)
//
// DIR has the folder that is served, the calls to make, and the times at which long
// searches ended. The client vanishes during a call in the end.
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, dir, target] = process.argv.slice(2);
const sdk = (name) => import(pathToFileURL(join(modules, "@modelcontextprotocol/sdk/dist/esm", name)));
const { Client } = await sdk("client/index.js");
const { StdioClientTransport } = await sdk("client/stdio.js");
const { StreamableHTTPClientTransport } = await sdk("client/streamableHttp.js");
const { ResourceUpdatedNotificationSchema } = await sdk("types.js");

const overHTTP = target.startsWith("http:");

function check(what, ok, got) {
  if (!ok) throw new Error(`${what}: ${JSON.stringify(got)?.slice(0, 500)}`);
}

async function connect() {
  const transport = overHTTP
    ? new StreamableHTTPClientTransport(new URL(target))
    : new StdioClientTransport({ command: target, env: process.env });
  const client = new Client({ name: "script", version: "1" });
  await client.connect(transport);
  return client;
}

const call = (client, op, args, options) =>
  client.callTool({ name: `workspace__main__${op}`, arguments: args }, undefined, options);

const client = await connect();

const { tools } = await client.listTools();
const calls = JSON.parse(await readFile(join(dir, "calls.json"), "utf8"));
check("every tool is called", new Set(calls.map((c) => c.op)).size === tools.length, calls);
for (const { op, args, fails } of calls) {
  const result = await call(client, op, args); // which tests the structured content
  check(`${op} ${JSON.stringify(args)}`, result.content[0].text && (result._meta?.["io.github.workspacekit/error"]?.code ?? "") === fails, result);
}

// A search that is cancelled once it goes on. On a busy machine, one of a few has to
// stop in time. The file "searches" has a byte for each.
const lines = async () => (await readFile(join(dir, "left"), "utf8").catch(() => "")).split("\n").slice(0, -1);
for (let n = 1, took = Infinity; took > 200; n++) {
  check("the search stops within 200 ms", n <= 3, took);
  const abort = new AbortController();
  let aborted;
  const onprogress = () => {
    aborted ??= Date.now();
    abort.abort();
  };
  const outcome = await call(client, "grep", { pattern: "long" }, { onprogress, signal: abort.signal }).then(() => "a result", () => "");
  check("the search is cancelled", outcome === "", outcome);
  await appendFile(join(dir, "searches"), ".");
  for (const late = Date.now() + 10000; (await lines()).length < n; ) check("the search ends", Date.now() < late);
  took = Number((await lines())[n - 1]) - aborted;
}

// A file that another program changes.
const uri = "workspace://main/a.txt";
const updated = new Promise((resolve) => client.setNotificationHandler(ResourceUpdatedNotificationSchema, (n) => resolve(n.params.uri)));
await client.subscribeResource({ uri });
await writeFile(join(dir, "served", "a.txt"), "changed\n");
check("the update", (await updated) === uri, await updated);
const { contents } = await client.readResource({ uri });
check("the resource", contents[0].text === "changed\n", contents);

const readNth = async (client, n) => {
  const result = await call(client, "read_file", { path: `many/${n}.txt` });
  check(`file ${n}`, result.structuredContent?.text === `file ${n}\n`, result);
};
await Promise.all(Array.from({ length: 100 }, (_, n) => readNth(client, n)));
const connections = overHTTP || process.env.WORKSPACEKIT_TESTS === 'all' ? 50 : 10;
await Promise.all(Array.from({ length: connections }, async (_, n) => {
  const other = await connect();
  await readNth(other, n);
  await other.close();
}));

// A message that is none, and one that is too large for a file.
if (overHTTP) {
  const headers = { "Content-Type": "application/json", Accept: "application/json, text/event-stream", "Mcp-Session-Id": client.transport.sessionId };
  const response = await fetch(target, { method: "POST", headers, body: "nonsense" });
  check("the malformed message", response.status === 400, response.status);
} else {
  client.transport._process.stdin.write("nonsense\n");
}
const large = await call(client, "write_file", { path: "large", content: "x".repeat(50 << 20) });
check("the large argument", large.isError, large);
await client.ping();

await call(client, "grep", { pattern: "long" }, { onprogress: () => process.exit(0) });
