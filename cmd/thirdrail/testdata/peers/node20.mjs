// Lets the conformance suite load where Node.js has no fs.globSync, as Node 20 has none.
// The suite needs it for reports about SDKs only, which nobody asks for here.
import { register } from "node:module";

const asModule = (source) => "data:text/javascript," + encodeURIComponent(source);
const fs = asModule('export * from "node:fs"; export { default } from "node:fs"; export const globSync = undefined;');
register(asModule(`export const resolve = (name, context, next) =>
  name === "fs" ? { url: ${JSON.stringify(fs)}, shortCircuit: true } : next(name, context);`));
