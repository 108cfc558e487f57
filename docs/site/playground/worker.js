// Python in a thread of its own, so that the page stays alive, and a search can be ended with the thread.
import { loadPyodide } from "./pyodide.mjs";

// A cache is used only if nobody else can have written it. Here nobody else is; Python does not know.
const SETUP = `
import os, sys
os.geteuid = os.getuid
for each in os.scandir("/cache"):
    os.chmod(each.path, 0o600)
os.environ["ASSAY_CACHE"] = "/cache"
sys.path.insert(0, "/assay")
from answer import answered
`;

async function started() {
  const here = new URL("./", import.meta.url).href;
  const python = await loadPyodide({ indexURL: here });
  for (const [archive, folder] of [["assay.zip", "/assay"], ["tables.zip", "/cache"]]) {
    const found = await fetch(here + archive);
    if (!found.ok) throw new Error(`${archive}: ${found.status}`);
    python.unpackArchive(await found.arrayBuffer(), "zip", { extractDir: folder });
  }
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
