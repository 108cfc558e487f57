// `npm test`: the grammar colours the bundled specs as VS Code's own tokenizer reads it, and the language server that
// the extension starts answers VS Code's own protocol library.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { readFileSync, readdirSync } from "node:fs";
import { join, dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);
const textmate = require("vscode-textmate");
const oniguruma = require("vscode-oniguruma");
const rpc = require("vscode-jsonrpc/node");
const here = dirname(fileURLToPath(import.meta.url));
const specs = join(here, "..", "..", "..", "spec");

async function grammar() {
  const wasm = readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
  const onigLib = Promise.resolve({
    createOnigScanner: (sources) => new oniguruma.OnigScanner(sources),
    createOnigString: (text) => new oniguruma.OnigString(text),
  });
  const file = join(here, "..", "syntaxes", "assay.tmLanguage.json");
  const loadGrammar = async () => textmate.parseRawGrammar(readFileSync(file, "utf8"), file);
  return new textmate.Registry({ onigLib, loadGrammar }).loadGrammar("source.assay");
}

function words(language, text) {
  const found = [];
  let stack = textmate.INITIAL;
  for (const line of text.split("\n")) {
    const read = language.tokenizeLine(line, stack);
    for (const each of read.tokens) {
      found.push([line.slice(each.startIndex, each.endIndex).trim(), each.scopes.at(-1)]);
    }
    stack = read.ruleStack;
  }
  return found;
}

async function colours() {
  const language = await grammar();
  const paths = readdirSync(specs, { recursive: true }).filter((path) => path.endsWith(".assay"));
  assert(paths.length > 20);
  for (const path of paths) {
    const found = words(language, readFileSync(join(specs, path), "utf8"));
    const scopes = new Set(found.map(([, scope]) => scope));
    assert(scopes.has("keyword.declaration.assay"), path);
    const last = found.findLast(([text]) => text);
    assert(!last[1].startsWith("string.quoted.triple"), `${path}: a string does not end`);
  }
  const small = new Map(words(language, 'action a: # why\n    when "x" in s and true\n'));
  assert.equal(small.get("action"), "keyword.declaration.assay");
  assert.equal(small.get("and"), "keyword.control.assay");
  assert(small.get("# why").startsWith("comment"));
  console.log(`grammar: ${paths.length} specs`);
}

async function server() {
  const [program, ...before] = (process.env.ASSAY ?? "assay").split(" ");
  const process_ = spawn(program, [...before, "lsp"], { stdio: ["pipe", "pipe", "inherit"] });
  const connection = rpc.createMessageConnection(
    new rpc.StreamMessageReader(process_.stdout),
    new rpc.StreamMessageWriter(process_.stdin),
  );
  const told = new Promise((done) => connection.onNotification("textDocument/publishDiagnostics", done));
  connection.listen();
  const answer = await connection.sendRequest("initialize", { processId: process.pid, rootUri: null, capabilities: {} });
  assert(answer.capabilities.completionProvider && answer.capabilities.renameProvider);
  assert(answer.capabilities.codeActionProvider && answer.capabilities.codeLensProvider && answer.capabilities.inlayHintProvider);
  await connection.sendNotification("initialized", {});
  const uri = pathToFileURL(join(here, "typed.assay")).href;
  const text = "module typed\nstate:\n    x: bool = flase\n";
  await connection.sendNotification("textDocument/didOpen", {
    textDocument: { uri, languageId: "assay", version: 1, text },
  });
  const { diagnostics } = await told;
  assert(diagnostics.length === 1 && diagnostics[0].range.start.line === 2, JSON.stringify(diagnostics));
  await connection.sendRequest("shutdown");
  await connection.sendNotification("exit");
  const code = await new Promise((done) => process_.on("exit", done));
  assert.equal(code, 0);
  console.log(`server: ${diagnostics[0].message}`);
}

await colours();
await server();
