// What the pages do better with a script: uploads with progress, a lean address, chunks that can be clicked.
// Nothing here is needed to read or to send a form.
"use strict";

document.documentElement.classList.add("scripted");

const words = () => document.getElementById("words").dataset;
const problem = () => document.getElementById("problem");

// Times in the visitor's own zone, written as the server writes them; the zone is told to whoever asks.
function localTimes(root) {
  const two = (number) => String(number).padStart(2, "0");
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    time.textContent = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
    time.title = at.toString();
  }
}
localTimes(document);
document.addEventListener("htmx:load", (event) => localTimes(event.detail.elt.parentElement ?? document));

// "/" goes to the search field, Escape closes what is open beside the text.
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input:not([type=range], [type=radio]), textarea, select, [contenteditable]");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const field = document.querySelector("[data-slash]");
    event.preventDefault();
    if (field) field.focus();
    else window.location.assign("/search");
  }
  if (event.key === "Escape" && !dialog.open) closePanel(); // one thing at a time
});

// The address holds what was chosen and no default: a slider counts once it was moved.
document.addEventListener("input", (event) => {
  const slider = event.target.closest("input[type=range]");
  if (!slider) return;
  slider.dataset.given = "";
  const shown = slider.parentElement.querySelector("output");
  if (shown) shown.textContent = slider.value;
});
document.addEventListener("htmx:configRequest", (event) => {
  const form = event.detail.elt.closest("form[data-lean]");
  if (!form) return;
  for (const [name, value] of [...event.detail.formData.entries()]) {
    const field = form.elements.namedItem(name);
    const untouched = field instanceof HTMLInputElement && field.type === "range" && !("given" in field.dataset);
    if (untouched || value === "") event.detail.formData.delete(name);
  }
});
// On a small screen the sliders stay out of the way until they are asked for.
const tuning = document.querySelector("details.tuning");
if (tuning && window.innerWidth < 760 && !tuning.querySelector("[data-given]")) tuning.open = false;
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.matches("form[data-lean]")) {
    for (const slider of form.querySelectorAll("input[type=range]:not([data-given])")) slider.disabled = true;
  }
}, true);
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-keep-query]");
  const query = document.getElementById("q");
  if (!link || !query) return;
  const address = new URL(link.href);
  address.searchParams.set("q", query.value);
  link.href = address.href;
});

// Errors of a request, and a service that does not answer.
document.addEventListener("htmx:sendError", () => { problem().replaceChildren(told(words().unreachable)); });
document.addEventListener("htmx:afterOnLoad", (event) => {
  if (event.detail.successful) problem().replaceChildren();
});
function told(text) {
  const paragraph = document.createElement("p");
  paragraph.className = "problem";
  paragraph.textContent = text;
  return paragraph;
}

// A dialog opens when something was put into it.
const dialog = document.getElementById("dialog");
dialog.addEventListener("htmx:afterSwap", () => { if (!dialog.open) dialog.showModal(); });
dialog.addEventListener("click", (event) => {
  if (event.target.closest("[data-close]")) {
    event.preventDefault();
    dialog.close();
  }
});

// Chunks: a click into the text opens the chunk there; the chosen one is marked wherever it is drawn.
document.addEventListener("click", (event) => {
  const piece = event.target.closest(".piece[data-chunks]");
  if (piece && window.getSelection().isCollapsed) {
    const ordinal = piece.dataset.chunks.split(" ").at(-1);
    document.querySelector(`a.start[data-chunk="${ordinal}"]`)?.click();
  }
  if (event.target.closest("[data-close-panel]")) closePanel();
  const copy = event.target.closest("[data-copy]");
  if (copy) navigator.clipboard?.writeText(copy.dataset.copy).then(() => { copy.textContent = words().copied; });
});
function markChosen() {
  const chosen = document.querySelector("#chunk .chunk")?.dataset.chunk;
  for (const piece of document.querySelectorAll(".piece.chosen")) piece.classList.remove("chosen");
  document.querySelector("#chunk")?.classList.toggle("open", chosen !== undefined);
  if (chosen === undefined) return;
  const pieces = document.querySelectorAll(`.piece[data-chunks~="${chosen}"]`);
  for (const piece of pieces) piece.classList.add("chosen");
  pieces[0]?.scrollIntoView({ block: "nearest" });
}
// A chunk that is still on its way must not open again what was closed meanwhile.
let coming;
document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.target.id === "chunk") coming = event.detail.xhr;
});
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.target.id === "chunk" && event.detail.xhr !== coming) event.detail.shouldSwap = false;
});
function closePanel() {
  coming = undefined;
  const panel = document.getElementById("chunk");
  const shown = panel?.querySelector(".chunk");
  if (!shown) return;
  // The focus goes back to where the panel was opened from, if it is in what vanishes.
  if (panel.contains(document.activeElement)) document.querySelector(`a.start[data-chunk="${shown.dataset.chunk}"]`)?.focus();
  panel.replaceChildren();
  markChosen();
}
document.addEventListener("htmx:afterSwap", (event) => { if (event.detail.target.id === "chunk") markChosen(); });
if (document.querySelector("#chunk .chunk")) {
  markChosen();
  document.querySelector(".piece.chosen")?.scrollIntoView({ block: "start" });
}

// Uploads: one request a file, one after the other, with the bytes that went out.
const upload = document.getElementById("upload");
if (upload) {
  const files = upload.querySelector("input[type=file]");
  files.multiple = true;
  files.addEventListener("change", () => { sendAll(files.files); files.value = ""; });
  upload.addEventListener("submit", (event) => { event.preventDefault(); if (files.files.length) sendAll(files.files); });
  const area = document.querySelector(".upload");
  for (const kind of ["dragenter", "dragover"]) {
    document.addEventListener(kind, (event) => { event.preventDefault(); area.classList.add("over"); });
  }
  document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) area.classList.remove("over"); });
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    area.classList.remove("over");
    sendAll(event.dataTransfer.files);
  });
}
let queue = Promise.resolve();
function sendAll(files) {
  const collection = upload.elements.namedItem("collection").value;
  for (const file of [...files]) {
    const row = uploadRow(file.name);
    queue = queue.then(() => send(file, collection, row)).then(() => {
      window.htmx.trigger("#live", "refresh");
      window.htmx.trigger(document.body, "documents-changed");
    });
  }
}
function uploadRow(name) {
  const row = document.createElement("li");
  const label = document.createElement("span");
  label.textContent = `${name} · ${words().uploading}`;
  const bar = document.createElement("progress");
  bar.setAttribute("aria-label", name);
  row.append(label, bar);
  document.getElementById("sending").append(row);
  return row;
}
function send(file, collection, row) {
  // A server that refuses a body in the middle cuts the connection, and its reason is lost: say it before.
  if (file.size > Number(upload.dataset.mostBytes)) {
    showEnd(row, file.name, [told(upload.dataset.tooLarge)], false);
    return Promise.resolve();
  }
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    const body = new FormData();
    body.append("collection", collection);
    body.append("file", file, file.name);
    const bar = row.querySelector("progress");
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) { bar.max = event.total; bar.value = event.loaded; }
    });
    request.addEventListener("loadend", () => {
      ended(request, file.name, row);
      resolve();
    });
    request.open("POST", "/documents");
    request.setRequestHeader("HX-Request", "true");
    request.send(body);
  });
}
function ended(request, name, row) {
  if (request.getResponseHeader("HX-Redirect")) { window.location.assign(request.getResponseHeader("HX-Redirect")); return; }
  const answer = new DOMParser().parseFromString(request.responseText, "text/html").body;
  const isFine = request.status >= 200 && request.status < 300;
  showEnd(row, name, request.status ? [...answer.childNodes] : [told(words().unreachable)], isFine);
}
function showEnd(row, name, nodes, isFine) {
  const label = document.createElement("strong");
  label.textContent = name;
  row.classList.add(isFine ? "accepted" : "refused");
  const dismiss = document.createElement("button");
  dismiss.type = "button";
  dismiss.className = "quiet";
  dismiss.textContent = words().dismiss;
  dismiss.addEventListener("click", () => row.remove());
  row.replaceChildren(label, dismiss, ...nodes);
  if (isFine) window.setTimeout(() => row.remove(), 4000);
}
