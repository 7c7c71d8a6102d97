// Speaks to a server with the client of the official TypeScript SDK, and prints what it
// saw, a line of JSON a check. What is right is said by the Go test that starts it.
//
// Its argument is JSON: {"packages": a folder with node_modules, "command": [...],
// "env": {...}}, or "url" and "token" in place of the command.
import { createRequire } from "node:module";

const setup = JSON.parse(process.argv[2]);
const load = createRequire(setup.packages + "/");
const { Client } = load("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = load("@modelcontextprotocol/sdk/client/stdio.js");
const { StreamableHTTPClientTransport } = load("@modelcontextprotocol/sdk/client/streamableHttp.js");
const types = load("@modelcontextprotocol/sdk/types.js");

// wire keeps the messages with large integers as they came, before the client rounds them.
const wire = [];
const parse = JSON.parse;
JSON.parse = (text, ...rest) => {
  if (String(text).includes("90071992547409")) wire.push(String(text));
  return parse(text, ...rest);
};

const oddities = []; // what the client didn't expect
const logs = [];
const questions = [];
let lists = 0;
let version; // of the protocol, as the last client agreed on it
let answer = { action: "cancel" }; // what the user answers

function transport(token = setup.token, headers = {}) {
  if (setup.command) {
    const [command, ...args] = setup.command;
    return new StdioClientTransport({ command, args, env: setup.env, stderr: "inherit" });
  }
  if (token) headers.Authorization = "Bearer " + token;
  return new StreamableHTTPClientTransport(new URL(setup.url), { requestInit: { headers } });
}

async function connect(capabilities, to = transport(), errors = oddities) {
  const client = new Client({ name: "peer", version: "1" }, { capabilities });
  client.onerror = (error) => errors.push(String(error));
  client.setNotificationHandler(types.LoggingMessageNotificationSchema, ({ params }) => void logs.push(params));
  client.setNotificationHandler(types.ToolListChangedNotificationSchema, () => void lists++);
  if (capabilities.elicitation) {
    client.setRequestHandler(types.ElicitRequestSchema, ({ params }) => {
      questions.push({ message: params.message, asks: Object.keys(params.requestedSchema.properties) });
      return answer;
    });
  }
  const set = to.setProtocolVersion?.bind(to);
  to.setProtocolVersion = (agreed) => {
    version = agreed;
    set?.(agreed);
  };
  await client.connect(to);
  return client;
}

// run returns what became of a program, without the times, which are never the same.
async function run(code, options = {}, client = peer) {
  const result = await client.callTool({ name: "run_code", arguments: { code } }, undefined, options);
  const { calls, ...rest } = result.structuredContent;
  return {
    ...rest,
    calls: calls.map(({ server, tool, count, ms }) => `${server}.${tool} ${count}${ms >= 0 ? "" : " in no time"}`),
    text: result.content[0].text,
    more: result.content.slice(1),
    failed: result.isError ?? false,
  };
}

// until is a program that waits for a condition.
const until = (condition) => `import asyncio\nwhile not (${condition}):\n    await asyncio.sleep(0.01)\nreturn True`;

// seen waits for what a notification brings.
async function seen(condition) {
  for (let i = 0; i < 1000 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 10));
}

async function check(name, body) {
  const patience = new Promise((_, reject) => setTimeout(reject, 30_000, new Error("it hung")).unref());
  let line;
  try {
    line = { check: name, got: (await Promise.race([body(), patience])) ?? null };
  } catch (error) {
    line = { check: name, error: String(error), code: error.code };
  }
  process.stdout.write(JSON.stringify(line) + "\n");
}

const fails = async (promise) => promise.then(
  () => "it didn't fail",
  (error) => ({ code: error.code }),
);

let peer;

await check("handshake", async () => {
  peer = await connect({ elicitation: { form: {} } });
  await peer.ping();
  return { name: peer.getServerVersion().name, capabilities: peer.getServerCapabilities(), version };
});
await check("list", async () => {
  const { tools, nextCursor } = await peer.listTools();
  return tools.map(({ name, inputSchema, outputSchema, annotations, description }) => ({
    name, required: inputSchema.required, outputs: outputSchema ?? null, annotations,
    declared: ["class files:", "async def echo(", "servers that could not be started"].filter((part) => description.toLowerCase().includes(part.toLowerCase())),
    more: nextCursor ?? null,
  }));
});
await check("value", () => run('print("hello")\nreturn {"a": [1, None, "é"], "b": await files.text(text="x")}'));
await check("output schema", () => run("return await files.broken()"));
await check("large integers", async () => {
  wire.length = 0;
  await run("return [9007199254740993, (await files.echo(z=-90071992547409931))['z'], 0.1]");
  return wire.map((text) => /"value":(\[[^\]]*\])/.exec(text)?.[1] ?? "");
});
await check("many at once", async () => {
  const results = await Promise.all([...Array(6).keys()].map((n) => run(`return (await files.echo(z=${n}))["z"]`)));
  return results.map(({ value }) => value);
});
await check("progress", async () => {
  // The client drops what comes in one piece with the result, so the program waits for it.
  const told = [];
  const waits = until('(await files.tally())["calls"].get("wrapped")');
  const all = run('print("one")\nawait files.progress()\nprint("two")\n' + waits, { onprogress: (progress) => told.push(progress) });
  await seen(() => told.length >= 5);
  await run("await files.wrapped()");
  await all;
  return told.map(({ progress, message }) => `${progress} ${message}`);
});
await check("logs before a level", async () => {
  await run('print("hush")\nawait files.log()');
  return logs;
});
await check("logs", async () => {
  await peer.setLoggingLevel("info");
  await run('print("hello")\nawait files.log()');
  return logs;
});
await check("logs above a level", async () => {
  logs.length = 0;
  await peer.setLoggingLevel("error");
  await run('print("hello")\nawait files.log()');
  return logs;
});
await check("cancel", async () => {
  const abort = new AbortController();
  const call = fails(run("await files.sleep()", { signal: abort.signal }));
  await run(until('(await files.tally())["calls"].get("sleep")'));
  abort.abort("enough");
  await call;
  return (await run(until('"sleep" in (await files.tally())["cancelled"]'))).value;
});
await check("declined", async () => {
  answer = { action: "decline" };
  return { ...(await run("try:\n    await files.content()\nexcept ToolError as e:\n    return str(e)")), asked: questions.splice(0) };
});
await check("dismissed", async () => {
  answer = { action: "cancel" };
  return { ...(await run("await files.content()")), asked: questions.splice(0).length };
});
await check("accepted, and an image", async () => {
  answer = { action: "accept", content: { calls: 1 } };
  return { ...(await run("return (await files.content())[1]")), asked: questions.splice(0).length };
});
await check("accepted for two, and no image", async () => {
  answer = { action: "accept", content: { calls: 2 } };
  return { ...(await run("return [len(await files.content()), len(await files.content())]")), asked: questions.splice(0).length };
});
await check("a server asks", async () => {
  answer = { action: "accept", content: { zone: "north" } };
  return { ...(await run("return await files.ask()")), asked: questions.splice(0) };
});
await check("list changed", async () => {
  lists = 0;
  await run("await files.grow()");
  await seen(() => lists > 0);
  const { tools } = await peer.listTools();
  return { lists, grown: tools[0].description.includes("grown_0"), value: (await run("return await files.grown_0()")).value };
});
await check("an exception", () => run('print("before")\nraise ValueError("odd")'));
await check("a failing tool", () => run("await files.fail()"));
await check("no program at all", () => run("x ="));
await check("no code", async () => {
  const result = await peer.callTool({ name: "run_code", arguments: {} });
  return { failed: result.isError, text: result.content[0].text };
});
await check("an unknown tool", () => fails(peer.callTool({ name: "rm", arguments: {} })));
if (setup.url) {
  await check("no token", () => fails(connect({}, transport(""), [])));
  await check("a wrong token", () => fails(connect({}, transport(setup.token + "x"), [])));
  await check("another origin", () => fails(connect({}, transport(setup.token, { Origin: "http://evil.example" }), [])));
  await check("two clients", async () => {
    const other = await connect({}, transport(), []);
    const value = await run('try:\n    await files.content()\nexcept ToolError as e:\n    return str(e)', {}, other);
    const session = { "Mcp-Session-Id": other.transport.sessionId, "Mcp-Protocol-Version": version };
    await other.transport.terminateSession();
    await other.close();
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
    const after = await fetch(setup.url, { method: "POST", body, headers: {
      ...session, Authorization: "Bearer " + setup.token, "Content-Type": "application/json", Accept: "application/json, text/event-stream",
    } });
    return { value: value.value, after: after.status };
  });
  await check("still there", async () => (await run("return 1")).value);
}
// The protocol has a server say nothing after a cancel, but Go's SDK always answers.
await check("oddities", async () => oddities.filter((text) => !/unknown message ID.*"context canceled"/.test(text)));
await check("end", async () => {
  await peer.transport.terminateSession?.();
  await peer.close();
});
