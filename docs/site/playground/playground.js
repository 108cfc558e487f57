const element = (name) => document.getElementById(name);
let worker = null;
let asked = null;

function say(text, busy) {
  element("status").textContent = text;
  element("check").disabled = busy;
  element("stop").disabled = !busy || !asked;
}

function start() {
  worker = new Worker("worker.js", { type: "module" });
  say("Python is loaded…", true);
  worker.onmessage = ({ data }) => {
    if (data.failed) {
      element("answer").textContent = data.failed;
      return say("failed", false);
    }
    if (!data.ready) {
      element("answer").innerHTML = data.html; // escaped where it was made
      element("answer").dataset.verdict = data.verdict;
      say(`${data.verdict}, ${((performance.now() - asked) / 1000).toFixed(1)} s`, false);
    } else if (asked) {
      ask();
    } else {
      say("ready", false);
    }
  };
  worker.onerror = (event) => {
    element("answer").textContent = event.message || "the page must come from a server: python -m http.server";
    say("failed", false);
  };
}

function ask() {
  asked = performance.now();
  delete element("answer").dataset.verdict;
  worker.postMessage({ text: element("spec").value, settings: element("settings").value });
  say("searching…", true);
}

element("check").onclick = ask;
element("stop").onclick = () => {
  worker.terminate();
  asked = null;
  element("answer").textContent = "stopped";
  start();
};
element("example").onchange = (event) => {
  element("spec").value = EXAMPLES[event.target.value];
  element("settings").value = "";
};
for (const name of Object.keys(EXAMPLES)) element("example").add(new Option(name, name));
element("spec").value = EXAMPLES[element("example").value];
element("spec").onkeydown = (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !element("check").disabled) ask();
};
start();
