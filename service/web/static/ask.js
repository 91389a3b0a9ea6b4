// Shows an answer of POST /v1/answer while it is written. What comes is put in as text, never as HTML.
"use strict";

const form = document.getElementById("ask");
const part = (name) => document.getElementById(`answer${name}`);
const TRIES = 4;
let running = null;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const question = form.elements.namedItem("q").value.trim();
  if (question) ask(question, form.elements.namedItem("collection").value);
});
if (form.elements.namedItem("q").value.trim()) form.requestSubmit();

async function ask(question, collection) {
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  const address = new URL(window.location.href);
  address.search = new URLSearchParams(collection ? { q: question, collection } : { q: question });
  window.history.replaceState(null, "", address);
  document.getElementById("ask-empty").hidden = true;
  document.getElementById("problem").replaceChildren();
  part("").hidden = false;
  part("-sources-title").hidden = true;
  part("-sources").replaceChildren();
  part("-text").replaceChildren();
  part("-text").setAttribute("aria-busy", "true");
  state("searching");
  const answer = { text: "", sources: new Map(), mode: "", last: null, ended: false };
  const body = JSON.stringify({ question, search: collection ? { collections: [collection] } : {} });
  try {
    // A stream without a last event was cut: the same request goes on behind the last event that came.
    for (let attempt = 0; attempt < TRIES && !answer.ended; attempt += 1) await follow(body, answer, signal);
    if (!answer.ended) refused(document.getElementById("words").dataset.cut);
  } catch (error) {
    if (error.name === "AbortError") return;
    refused(error instanceof Refusal ? error.message : document.getElementById("words").dataset.unreachable, error.detail);
  }
  part("-text").setAttribute("aria-busy", "false");
}

// What the service refused, with the code and the number of the request for whoever looks into it.
class Refusal extends Error {
  constructor(error, status) {
    super(error?.message ?? `HTTP ${status}`);
    this.detail = error ? `${error.code} · ${error.request_id}` : "";
  }
}

async function follow(body, answer, signal) {
  const headers = { "Content-Type": "application/json", Accept: "text/event-stream" };
  if (answer.last !== null) headers["Last-Event-ID"] = answer.last;
  let response;
  try {
    response = await fetch("/v1/answer", { method: "POST", headers, body, signal });
  } catch (error) {
    if (error.name === "AbortError" || answer.last === null) throw error;
    await new Promise((resolve) => { window.setTimeout(resolve, 1000); });
    return;
  }
  if (response.status === 401) { window.location.assign(`/login?${new URLSearchParams({ next: window.location.pathname + window.location.search })}`); return; }
  if (response.status === 204) { answer.ended = true; return; }
  if (!response.ok) {
    const told = await response.json().catch(() => null);
    throw new Refusal(told?.error, response.status);
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      waiting += value;
      const events = waiting.split(/\r?\n\r?\n/);
      waiting = events.pop();
      for (const event of events) happened(event, answer);
    }
  } catch (error) {
    if (error.name === "AbortError" || error instanceof Refusal) throw error;
  }
}

function happened(event, answer) {
  const fields = { event: "message", data: [] };
  for (const line of event.split(/\r?\n/)) {
    const [, name, value] = /^([a-z]+):? ?(.*)$/.exec(line) ?? [];
    if (name === "data") fields.data.push(value);
    else if (name) fields[name] = value;
  }
  if (!fields.data.length) return;
  const data = JSON.parse(fields.data.join("\n"));
  answer.last = fields.id ?? answer.last;
  if (fields.event === "search_results") {
    answer.mode = data.mode;
    for (const source of data.passages) answer.sources.set(source.number, source);
    state(data.mode === "extractive" ? "extractive" : "writing");
  } else if (fields.event === "content") {
    answer.text += data.text;
    show(answer);
  } else if (fields.event === "complete") {
    answer.ended = true;
    for (const source of data.citations) answer.sources.set(source.number, { ...answer.sources.get(source.number), ...source });
    const cited = new Set(data.citations.map((source) => source.number));
    show(answer);
    list(answer, cited);
    if (answer.mode === "nothing_found") state("nothing");
    else state("done", (data.timings_ms.total_ms / 1000).toFixed(1), answer.mode === "extractive");
  } else if (fields.event === "error") {
    answer.ended = true;
    throw new Refusal(data.error);
  }
}

// [1] becomes a link to its source; a number that no source has stays as the text that it is.
function show(answer) {
  const nodes = answer.text.split(/(\[\d+\])/).map((piece) => {
    const number = Number(/^\[(\d+)\]$/.exec(piece)?.[1]);
    if (!answer.sources.has(number)) return document.createTextNode(piece);
    const link = document.createElement("a");
    link.className = "cite";
    link.href = address(answer.sources.get(number));
    link.textContent = String(number);
    return link;
  });
  part("-text").replaceChildren(...nodes);
}

const address = (source) => `/documents/${source.document_id}?at=${source.start}`;

function list(answer, cited) {
  const rows = [...answer.sources.values()].filter((source) => cited.has(source.number)).map((source) => {
    const row = document.createElement("li");
    const number = document.createElement("span");
    number.className = "rank";
    number.textContent = String(source.number);
    const told = document.createElement("div");
    const link = document.createElement("a");
    link.href = address(source);
    link.textContent = source.title ?? source.source;
    const where = document.createElement("p");
    where.className = "where";
    const headings = source.heading_path.filter((heading) => heading !== source.title);
    if (source.first_page !== null) where.append(pageChip(source), " ");
    where.append([source.source, source.collection, ...headings].join(" · "));
    const quote = document.createElement("p");
    quote.className = "quote";
    quote.lang = "";
    quote.textContent = (source.content ?? "").slice(0, 240);
    told.append(link, where, quote);
    row.append(number, told);
    return row;
  });
  part("-sources").replaceChildren(...rows);
  part("-sources-title").hidden = rows.length === 0;
}

function pageChip(source) {
  const chip = document.createElement("a");
  chip.className = "chip";
  chip.href = address(source);
  const pages = source.last_page > source.first_page ? `${source.first_page}–${source.last_page}` : source.first_page;
  chip.textContent = form.dataset.page.replace("0", String(pages));
  return chip;
}

function state(name, seconds = "", alsoExtractive = false) {
  const words = part("-state").dataset;
  const text = words[name].replace("0.0", seconds);
  part("-state").textContent = alsoExtractive ? `${words.extractive} ${text}` : text;
}

function refused(message, detail = "") {
  const told = document.createElement("span");
  told.className = "problem";
  const code = document.createElement("code");
  code.textContent = detail;
  told.append(message, " ", code);
  part("-state").replaceChildren(told);
}
