// The page shows what its server sends. It keeps nothing, asks nobody else, and writes text as text only.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const DAY = 24 * 3600 * 1000;

const state = { fleet: null, tokens: [], at: null, history: null, gate: null, ahead: 0 };

const byId = (id) => document.getElementById(id);

function html(name, text, className) {
  const e = document.createElement(name);
  if (text !== undefined) e.textContent = text;
  if (className) e.className = className;
  return e;
}

function svg(name, attributes, text) {
  const e = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  if (text !== undefined) e.textContent = text;
  return e;
}

// Times are by the clocks of the hosts; "now" is the time of the host of this page, as of the last event.
const now = () => Date.now() + state.ahead;

function rough(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 60) return s + "s";
  if (s < 3600) return Math.floor(s / 60) + "m " + (s % 60) + "s";
  if (s < 86400) return Math.floor(s / 3600) + "h " + Math.floor((s % 3600) / 60) + "m";
  return Math.floor(s / 86400) + "d " + Math.floor((s % 86400) / 3600) + "h";
}

// A fencing number in digits: as a number, JavaScript rounds it above 2⁵³. An older agent does not send them.
const numberOf = (what) => what.seq_text ?? String(what.seq);
const clock = (time) => new Date(time).toLocaleTimeString();
const since = (time) => time ? "for " + rough(now() - Date.parse(time)) + " (since " + clock(time) + ")" : "for an unknown time";

const gates = () => (state.fleet?.gates ?? []).map((g) => g.name);
const members = () => state.fleet?.gates.find((g) => g.name === state.gate)?.rows ?? [];
const away = () => state.fleet?.gates.find((g) => g.name === state.gate)?.away ?? [];
const homes = () => state.fleet?.gates.find((g) => g.name === state.gate)?.homes ?? [];
const tokens = () => state.tokens.filter((t) => t.gate === state.gate);
const failed = (run) => Boolean(run.error || run.cut);
const under = (run) => !run.end && !run.cut;

function runs() {
  const all = [];
  for (const m of state.history?.members ?? []) {
    for (const g of m.history?.gates ?? []) {
      if (g.name === state.gate) for (const run of (g.runs ?? []).filter((r) => !r.skip)) all.push({ host: m.name, member: m.member, run });
    }
  }
  return all;
}

// kindOf returns the kind as which a member is drawn.
function kindOf(m) {
  const held = tokens().find((t) => t.member === m.member && !t.missing);
  if (m.missing) return "missing";
  if (held ? held.running : m.running) return "running";
  return m.failed ? "failed" : "idle";
}

function drawGates() {
  const names = gates();
  if (!names.includes(state.gate)) state.gate = names[0] ?? null;
  byId("gates").replaceChildren(...(names.length < 2 ? [] : names).map((name) => {
    const b = html("button", name);
    b.setAttribute("aria-pressed", String(name === state.gate));
    b.addEventListener("click", () => { state.gate = name; draw(); });
    return b;
  }));
}

function drawSummary() {
  const all = state.fleet?.members ?? 0;
  const silent = state.fleet?.silent ?? 0;
  byId("summary").textContent = all === 0 ? "asking the fleet…" :
    all + (all === 1 ? " member" : " members") + (silent ? ", " + silent + " do not answer" : "") +
    (state.at ? ", " + clock(state.at) : "");
}

const RADIUS = 150;

function placeOf(i, n) {
  const angle = 2 * Math.PI * i / n - Math.PI / 2;
  return { x: RADIUS * Math.cos(angle), y: RADIUS * Math.sin(angle) };
}

// drawRing keeps the tokens' elements, so that they move from one member to the next.
function drawRing() {
  const ring = byId("ring");
  const all = members();
  let track = ring.querySelector(".track");
  if (!track) ring.append(track = svg("circle", { class: "track", r: RADIUS }));
  ring.querySelectorAll(".member, .name, .middle").forEach((e) => e.remove());
  const size = Math.max(2.5, Math.min(11, 400 / Math.max(all.length, 1)));
  all.forEach((m, i) => {
    const at = placeOf(i, all.length);
    const kind = kindOf(m);
    const dot = svg("circle", { class: "member " + kind, cx: at.x, cy: at.y, r: size, "data-name": m.name });
    dot.append(svg("title", {}, m.name + (m.missing ? ": " + m.missing : "")));
    ring.append(dot);
    if (all.length <= 24 || kind === "running") {
      ring.append(svg("text", {
        class: "name", x: at.x * 1.14, y: at.y * 1.18 + 4,
        "text-anchor": at.x > 20 ? "start" : at.x < -20 ? "end" : "middle",
      }, m.name.length > 10 ? m.name.slice(0, 9) + "…" : m.name));
    }
  });
  const drawn = new Set();
  for (const t of tokens()) {
    const i = all.findIndex((m) => m.member === t.member);
    if (i < 0) continue;
    const id = "token-" + (t.slot ?? 0);
    let e = byId(id);
    if (!e) ring.append(e = svg("circle", { id, class: "token", r: size + 5 }));
    drawn.add(id);
    const at = placeOf(i, all.length);
    e.setAttribute("class", t.missing ? "token unsure" : "token");
    e.setAttribute("data-holder", t.name);
    e.setAttribute("r", size + 5);
    e.style.transform = "translate(" + at.x + "px, " + at.y + "px)";
    ring.append(e);
  }
  ring.querySelectorAll(".token").forEach((e) => { if (!drawn.has(e.id)) e.remove(); });
  const running = tokens().filter((t) => t.running);
  const one = tokens()[0];
  ring.append(svg("text", { class: "middle", y: -2 },
    running.length ? running.map((t) => t.name).join(", ") : one && !one.missing ? one.name : "not known"));
  ring.append(svg("text", { class: "middle soft", y: 18 },
    running.length ? "runs" : one && !one.missing ? "has the token" : "who has the token"));
}

// homeText says what a home knows of those that wait. Its knowledge is as old as the last answer of all members.
function homeText(h) {
  const n = h.queue?.waiters;
  const about = [h.missing ?? (n === undefined ? "keeps no queue" : n === 0 ? "no waiters" : n + (n === 1 ? " waiter" : " waiters"))];
  if (h.named < h.of) about.push("a home for " + h.named + " of " + h.of + " members");
  return h.name + " (" + about.join("; ") + ")";
}

function drawFacts() {
  const facts = [];
  const fact = (name, text, kind) => facts.push(html("dt", name), html("dd", text, kind));
  const several = tokens().length > 1;
  for (const t of tokens()) {
    const slot = several ? " " + (t.slot ?? 0) : "";
    if (t.missing) {
      fact("token" + slot, "not known: " + (t.name ? t.name + ", the last known holder: " : "") + t.missing, "failed");
      continue;
    }
    fact("runs" + slot, t.running ? t.name + (t.command ? ": " + t.command : "") + ", " + since(t.running_since) : "nobody", t.running ? "running" : "");
    fact("token" + slot, t.name + ", " + since(t.since) + ", number " + numberOf(t));
    fact("came by", (t.trail ?? []).join(" → "));
  }
  const last = members().filter((m) => m.failed).sort((a, b) => Date.parse(b.last_run) - Date.parse(a.last_run))[0];
  if (last) fact("failed last", last.name + ", " + rough(now() - Date.parse(last.last_run)) + " ago: " + last.result, "failed");
  for (const m of members()) if (m.missing) fact("missing", m.name + ": " + m.missing, "failed");
  for (const k of away()) {
    const until = "waited for until " + clock(k.until);
    const waited = Date.parse(k.until) < now() ? "was " + until + ": the others go on when one of them wants to run" : until;
    const at = k.back_since ? " is back " + since(k.back_since) + ", and has not handed its grant back yet"
      : " is away " + since(k.away_since) + ", and " + waited;
    fact("away", k.name + at);
  }
  const due = members().filter((m) => !m.missing && !m.running);
  const waiting = due.filter((m) => m.awaits && !(Date.parse(m.next_run) > now()));
  const next = due.filter((m) => Date.parse(m.next_run) > now()).sort((a, b) => Date.parse(a.next_run) - Date.parse(b.next_run))[0];
  if (homes().length) waiting.sort((a, b) => Date.parse(a.due_since ?? 0) - Date.parse(b.due_since ?? 0)); // in their turns
  const waits = (m) => m.name + (homes().length && m.due_since ? " for " + rough(now() - Date.parse(m.due_since)) : "");
  if (waiting.length) fact("next", "with the token: " + waiting.slice(0, 6).map(waits).join(", ") + (waiting.length > 6 ? " and " + (waiting.length - 6) + " more" : ""));
  else if (next) fact("next", next.name + " in " + rough(Date.parse(next.next_run) - now()));
  for (const slot of new Set(homes().map((h) => h.slot ?? 0))) {
    const some = homes().filter((h) => (h.slot ?? 0) === slot);
    fact("homes" + (several ? " " + slot : ""), some.slice(0, 6).map(homeText).join(", ") + (some.length > 6 ? " and " + (some.length - 6) + " more" : ""));
  }
  for (const m of members()) {
    for (const c of m.callers ?? []) if (!c.running) fact("waits", m.name + ": " + c.command + ", " + since(c.since));
  }
  byId("facts").replaceChildren(...facts);
}

// drawPause shows whether the gate is paused, and on how many of the members that answer.
function drawPause() {
  const told = members().filter((m) => !m.missing);
  const paused = told.filter((m) => m.paused);
  const p = paused[0]?.paused;
  byId("paused").textContent = !p ? "" : "Paused on " + paused.length + " of " + told.length + " members, by " + p.by + " since " + new Date(p.since).toLocaleString() +
    (p.until ? ", until " + new Date(p.until).toLocaleString() : ", until somebody resumes it") + (p.reason ? ": " + p.reason : "");
  byId("resume").hidden = paused.length === 0;
}

async function directive(call) {
  const answer = await fetch("/order", {
    method: "POST", body: JSON.stringify({ gate: state.gate, ...call }),
    headers: { "Content-Type": "application/json", "X-Wanderd-Order": document.querySelector("meta[name=order-token]").content },
  });
  trouble(answer.ok ? "" : "The directive was refused: " + await answer.text());
}

byId("pause").addEventListener("submit", (e) => {
  e.preventDefault();
  const time = byId("for").value;
  directive({ pause: true, reason: byId("reason").value, ...(time ? { for: time } : {}) });
});
byId("resume").addEventListener("click", () => directive({ pause: false }));

// doing says what a member does now.
function doing(m) {
  const soaks = Date.parse(m.care?.soak_until) > now() ? ["soaking until " + clock(m.care.soak_until)] : [];
  const care = m.care && [...soaks, ...(m.care.answer ? ["after said: " + m.care.answer] : soaks.length ? [] : ["after is being asked"])].join("; ");
  if (kindOf(m) === "running") return (care ?? "runs") + (m.kept ? "; grant kept until " + clock(m.kept.until) : "");
  return m.running ? "has run" : m.kept?.state ?? m.not_running;
}

// The roles keep the meaning of the elements where a narrow screen shows them as blocks.
function drawMembers() {
  const head = html("tr");
  head.role = "row";
  const titles = ["name", "last run", "result", "next run", "now"];
  for (const title of titles) {
    const th = html("th", title);
    th.scope = "col";
    th.role = "columnheader";
    head.append(th);
  }
  const rows = members().map((m) => {
    const row = html("tr", undefined, kindOf(m) === "idle" ? "" : kindOf(m));
    const cells = m.missing ? [m.name, "", "", "", m.missing] : [
      m.name + (m.self ? " (this host)" : ""),
      m.last_run ? new Date(m.last_run).toLocaleString() : "never",
      m.result ?? "-",
      Date.parse(m.next_run) > now() ? "in " + rough(Date.parse(m.next_run) - now()) : m.awaits ? "with the token" : "-",
      doing(m),
    ];
    row.role = "row";
    row.append(...cells.map((text, i) => {
      const td = html("td", text);
      td.role = "cell";
      td.dataset.title = titles[i];
      return td;
    }));
    return row;
  });
  byId("members").replaceChildren(head, ...rows);
}

// tell describes a run, in the same way for a pointer, a finger and a keyboard.
function tell(r) {
  const took = under(r.run) ? rough(now() - Date.parse(r.run.start)) + " so far" :
    r.run.end ? ((Date.parse(r.run.end) - Date.parse(r.run.start)) / 1000).toFixed(1) + " s" : "an unknown time";
  const how = under(r.run) ? "runs" : r.run.cut ? "cut short: " + r.run.cut : "exit " + r.run.exit;
  return r.host + (r.run.command ? ": " + r.run.command : "") + ", " + new Date(r.run.start).toLocaleString() + ", " + took + ", " + how + ", number " + numberOf(r.run);
}

function output(r) {
  const lines = [...(r.run.error ? [r.run.error] : []), ...(r.run.output ?? [])];
  return lines.length ? [html("pre", lines.join("\n"))] : [];
}

function showDetail(r) { byId("detail").replaceChildren(html("p", tell(r)), ...output(r)); }

// The chart is drawn for the width of its box, in pixels of the page: its text has the same size on every screen, and the newest hour is always to be seen.
const LEFT = 110, ROW = 18, TOP = 20, LABEL = 44, LETTER = 7.3, HOUR = 3600 * 1000;
let drawnFor = 0;

function drawTimeline() {
  const focused = document.activeElement?.dataset?.run;
  const width = drawnFor = Math.max(byId("timeline").clientWidth, 200);
  const left = Math.min(LEFT, Math.floor(width / 4));
  const letters = Math.floor(left / LETTER);
  const to = now(), from = to - DAY;
  const hosts = members().map((m) => m.name);
  const all = runs();
  for (const r of all) if (!hosts.includes(r.host)) hosts.push(r.host);
  const chart = svg("svg", { viewBox: "0 0 " + width + " " + (TOP + ROW * hosts.length + 4), role: "group", "aria-label": "Runs of the last day, by host" });
  const x = (time) => left + (width - left - 10) * Math.min(1, Math.max(0, (time - from) / DAY));
  const step = [3, 6, 12].map((hours) => hours * HOUR).find((step) => (width - left - 10) * step / DAY >= LABEL) ?? DAY;
  for (let t = Math.ceil(from / step) * step; t < to; t += step) {
    chart.append(svg("line", { class: "row", x1: x(t), x2: x(t), y1: TOP - 4, y2: TOP + ROW * hosts.length }));
    const anchor = x(t) + LABEL / 2 > width ? "end" : "middle";
    chart.append(svg("text", { class: "hour", x: anchor === "end" ? width : x(t), y: 11, "text-anchor": anchor },
      new Date(t).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" })));
  }
  const at = new Map(hosts.map((host, i) => [host, TOP + ROW * i]));
  for (const [host, y] of at) chart.append(svg("text", { x: 0, y: y + 13 }, host.length > letters ? host.slice(0, letters - 1) + "…" : host));
  let first = true;
  for (const r of all.sort((a, b) => Date.parse(a.run.start) - Date.parse(b.run.start))) {
    const begin = x(Date.parse(r.run.start));
    const end = x(under(r.run) ? to : r.run.end ? Date.parse(r.run.end) : Date.parse(r.run.start));
    const bar = svg("rect", {
      class: "run" + (under(r.run) ? " running" : failed(r.run) ? " failed" : ""), x: begin, y: at.get(r.host) + 3,
      width: Math.max(3, end - begin), height: ROW - 6, tabindex: first ? 0 : -1, role: "img", "aria-label": tell(r), "data-run": r.member + numberOf(r.run),
    });
    first = false;
    bar.append(svg("title", {}, [tell(r), r.run.error ?? "", ...(r.run.output ?? [])].filter(Boolean).join("\n")));
    for (const what of ["focus", "pointerenter", "click"]) bar.addEventListener(what, () => showDetail(r));
    chart.append(bar);
  }
  byId("timeline").replaceChildren(chart);
  if (focused) chart.querySelector("[data-run=\"" + CSS.escape(focused) + "\"]")?.focus();
}

new ResizeObserver(() => { if (state.fleet && byId("timeline").clientWidth !== drawnFor) drawTimeline(); }).observe(byId("timeline"));

// The arrow keys go from run to run.
byId("timeline").addEventListener("keydown", (e) => {
  const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }[e.key];
  const bars = [...byId("timeline").querySelectorAll(".run")];
  const i = bars.indexOf(document.activeElement);
  if (!step || i < 0) return;
  e.preventDefault();
  bars[Math.min(bars.length - 1, Math.max(0, i + step))].focus();
});

function drawFailures() {
  const open = new Set([...byId("failures").querySelectorAll("details[open]")].map((d) => d.dataset.run));
  const list = runs().filter((r) => failed(r.run)).sort((a, b) => Date.parse(b.run.start) - Date.parse(a.run.start)).slice(0, 100);
  byId("failures").replaceChildren(...(list.length === 0 ? [html("p", "none", "hint")] : list.map((r) => {
    const d = html("details", undefined, "failure");
    d.dataset.run = r.member + numberOf(r.run);
    d.open = open.has(d.dataset.run);
    d.append(html("summary", tell(r)), ...output(r));
    return d;
  })));
}

function drawNow() {
  drawSummary();
  drawRing();
  drawFacts();
  drawMembers();
}

function draw() {
  drawGates();
  drawNow();
  drawPause();
  drawTimeline();
  drawFailures();
}

function trouble(text) {
  byId("error").hidden = !text;
  byId("error").textContent = text ?? "";
}

// The token goes out of the address bar, where others could read it, and out of the history of the browser.
window.history.replaceState(null, "", "/");

const events = new EventSource("/events");
events.addEventListener("fleet", (e) => { state.fleet = JSON.parse(e.data); draw(); });
events.addEventListener("history", (e) => { state.history = JSON.parse(e.data); drawTimeline(); drawFailures(); });
events.addEventListener("tokens", (e) => {
  const news = JSON.parse(e.data);
  state.tokens = news.tokens ?? [];
  state.at = news.at;
  state.ahead = Date.parse(news.at) - Date.now();
  trouble(news.error);
  drawNow();
});
events.addEventListener("error", () => trouble("The connection to \"wanderd web\" is lost. This page tries again."));
setInterval(() => { if (state.fleet) drawFacts(); }, 1000);
