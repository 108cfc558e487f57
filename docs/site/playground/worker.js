// Python in a thread of its own, so that the page stays alive, and a search can be ended with the thread.
import { loadPyodide } from "./pyodide.mjs";

const SETUP = `
import sys
sys.path.insert(0, "/assay")
from answer import answered
`;

async function started() {
  const here = new URL("./", import.meta.url).href;
  const python = await loadPyodide({ indexURL: here });
  const found = await fetch(`${here}assay.zip`);
  if (!found.ok) throw new Error(`assay.zip: ${found.status}`);
  python.unpackArchive(await found.arrayBuffer(), "zip", { extractDir: "/assay" });
  python.runPython(SETUP);
  return python;
}

const python = started();
python.then(() => postMessage({ ready: true }), (error) => postMessage({ failed: String(error) }));

onmessage = async ({ data }) => {
  const answered = (await python).globals.get("answered");
  try {
    postMessage(JSON.parse(answered(data.text, data.settings)));
  } catch (error) {
    postMessage({ failed: String(error) });
  }
};
