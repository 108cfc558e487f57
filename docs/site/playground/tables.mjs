// Makes the parser's tables with the Python that will read them: they depend on its version, and take the longest.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));
const python = await loadPyodide({ indexURL: folder });
python.unpackArchive(new Uint8Array(readFileSync(`${folder}/assay.zip`)), "zip", { extractDir: "/assay" });
python.runPython(`
import os, shutil, sys
os.environ["ASSAY_CACHE"] = "/cache"
sys.path.insert(0, "/assay")
from answer import answered
answered("module m\\nstate:\\n    x: bool = false\\naction a:\\n    x := not x\\n", "")
shutil.make_archive("/tables", "zip", "/cache")
`);
writeFileSync(`${folder}/tables.zip`, python.FS.readFile("/tables.zip"));
