"use strict";
// Starts `assay lsp` for specs and `assay dap` to walk runs, and runs `assay check` and `assay explore` in a terminal.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

const command = () => vscode.workspace.getConfiguration("assay").get("command", "assay");

// The name of the file is an argument of its own: no shell reads it.
async function inTerminal(subcommand) {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.document.languageId !== "assay") {
    vscode.window.showWarningMessage("Open a file *.assay first.");
    return;
  }
  await editor.document.save();
  const execution = new vscode.ProcessExecution(command(), [subcommand, editor.document.fileName]);
  const task = new vscode.Task({ type: "assay", subcommand }, vscode.TaskScope.Workspace, subcommand, "assay", execution);
  await vscode.tasks.executeTask(task);
}

function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("assay.check", () => inTerminal("check")),
    vscode.commands.registerCommand("assay.explore", () => inTerminal("explore")),
    vscode.debug.registerDebugAdapterDescriptorFactory("assay", {
      createDebugAdapterDescriptor: () => new vscode.DebugAdapterExecutable(command(), ["dap"]),
    }),
  );
  client = new LanguageClient("assay", "Assay", { command: command(), args: ["lsp"] }, { documentSelector: [{ language: "assay" }] });
  return client.start();
}

const deactivate = () => (client ? client.stop() : undefined);

module.exports = { activate, deactivate };
