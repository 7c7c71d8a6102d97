// A host of another make, written from wire/wire.md alone and with the fields of
// the base protocol only. It runs the program on its standard input in a child:
//
//     node host.mjs COMMAND [ARGUMENT...] < program.py
//
// and prints what happens, one JSON object a line. It trusts its child, which a
// real host must not do.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";

const [command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe", "pipe"] });
const rail = child.stdio[3];

const send = (frame) => rail.write(JSON.stringify(frame) + "\n");
const tell = (event) => process.stdout.write(JSON.stringify(event) + "\n");

const functions = {
  add: ({ a, b }) => ({ sum: a + b }),
  echo: (value) => value,
  fail: () => { throw new Error("no such row"); },
};

const answer = ({ id, global, name, args }) => {
  try {
    if (global !== "tools" || !Object.hasOwn(functions, name)) {
      throw new Error(`unknown binding ${global}.${name}`);
    }
    send({ type: "reply", id, ok: true, value: functions[name](args) });
  } catch (error) {
    send({ type: "reply", id, ok: false, message: error.message });
  }
};

// Replies to calls in flight go out in the reverse of their order.
let due = [];
const answerLater = (call) => {
  due.push(call);
  setImmediate(() => due.splice(0).reverse().forEach(answer));
};

const take = (frame) => {
  tell(frame);
  switch (frame.type) {
    case "boot-ack":
      send({ type: "run", program: readFileSync(0, "utf8") });
      break;
    case "call":
      answerLater(frame);
      break;
    case "done":
      rail.end();
      break;
  }
};

let unfinished = "";
rail.setEncoding("utf8");
rail.on("data", (text) => {
  const lines = (unfinished + text).split("\n");
  unfinished = lines.pop();
  lines.forEach((line) => take(JSON.parse(line)));
});
rail.on("error", (error) => tell({ railError: error.code }));

for (const name of ["stdout", "stderr"]) {
  child[name].setEncoding("utf8");
  child[name].on("data", (text) => tell({ [name]: text }));
}
child.on("close", (code, signal) => tell({ code, signal }));

send({
  type: "boot",
  cpuSeconds: 10,
  addressSpaceBytes: 4 * 1024 ** 3,
  maxLogBytes: 1000,
  maxValueBytes: 1000,
  namespaces: [{
    global: "tools",
    names: Object.keys(functions),
    errorClass: { name: "ToolError", memberNameProperty: "tool" },
  }],
});
