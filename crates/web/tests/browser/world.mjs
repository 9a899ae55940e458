// A repository of its own with a queue, agents that do what their scripts say, an engine, and a web server: all
// real processes in one temporary folder, which end with the world.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync, existsSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { until } from "./wait.mjs";

/** The program under test. */
export const CREW = process.env.CREW ?? "target/debug/crew";

/** What every scripted agent runs first: it has words for what agents do. */
const AGENT = `#!/bin/sh
set -e
cat > "$LOGS/$CREW_TICKET_ID.prompt"
# work FILE TEXT: write a file and commit it.
work() {
    case "$1" in */*) mkdir -p "\${1%/*}" ;; esac
    printf '%s\\n' "$2" > "$1"
    git add -A -- "$1"
    git commit -q -m "\${3:-work on $1}"
}
# gate NAME: wait until the test opens it, not for ever.
gate() {
    tries=0
    while [ ! -e "$GATES/$1" ]; do
        tries=$((tries+1))
        [ "$tries" -lt 6000 ] || exit 9
        sleep 0.05
    done
}
# told TEXT: whether the prompt has it.
told() { grep -qF -- "$1" "$LOGS/$CREW_TICKET_ID.prompt"; }
. "$SCRIPTS/$CREW_TICKET_ID"
`;

/** Commits one file, and says so. */
export const DONE = 'work "$CREW_TICKET_ID.txt" done\necho DONE\n';
/** Works until the test opens the gate of the ticket's name. */
export const BUSY = 'gate "$CREW_TICKET_ID"\nwork "$CREW_TICKET_ID.txt" done\necho DONE\n';
/** Asks once, then does what it was answered. */
export const ASKS = question => `if told '${ANSWERED}'; then work "$CREW_TICKET_ID.txt" done; echo DONE; else echo 'QUESTION: ${question}'; fi\n`;
const ANSWERED = "the answer is";

/** A program in the background. */
export class Running {
  constructor(program, args, options) {
    this.out = "";
    this.err = "";
    this.code = undefined;
    this.child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
    this.child.stdout.on("data", piece => (this.out += piece));
    this.child.stderr.on("data", piece => (this.err += piece));
    this.ended = new Promise(resolve => {
      this.child.on("error", error => {
        this.err += error.message;
        resolve((this.code = -1));
      });
      this.child.on("close", (code, signal) => resolve((this.code = code ?? signal)));
    });
  }

  kill(signal = "SIGTERM") {
    if (this.code === undefined) this.child.kill(signal);
    return this.ended;
  }
}

/** A port of loopback that nobody has now. */
export const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

export class World {
  /**
   * @param {{top?: string, run?: string, agents?: string, harness?: string, checks?: string, land?: string, name?: string}} settings
   *   Lines of crew.toml below each heading.
   */
  constructor(settings = {}) {
    this.folder = mkdtempSync(join(tmpdir(), "crew-web-"));
    this.name = settings.name ?? "project";
    this.running = [];
    this.written = 0;
    for (const folder of [this.name, "home", "state", "config", "scripts", "logs", "gates", "tmp"]) {
      mkdirSync(join(this.folder, folder));
    }
    writeFileSync(this.path("agent.sh"), AGENT, { mode: 0o755 });
    this.git("init", "-q", "-b", "main");
    this.git("config", "user.name", "User");
    this.git("config", "user.email", "user@example.org");
    this.write("README", "hello\n");
    if (settings.bare) return;
    const { top = "", run = "", agents = "count = 1", harness = "", checks = "", land = "" } = settings;
    const quoted = name => JSON.stringify(this.path(name));
    this.write(
      "crew.toml",
      `${top}\n[run]\ndebounce = "0s"\non_stop = "kill"\n${run}\n[agents]\nharness = "scripted"\n${agents}\n` +
        `[harness.scripted]\nkind = "command"\ncommand = [${quoted("agent.sh")}]\n` +
        `env = { SCRIPTS = ${quoted("scripts")}, LOGS = ${quoted("logs")}, GATES = ${quoted("gates")} }\n${harness}\n` +
        `[checks]\n${checks}\n[land]\n${land}\n`,
    );
    mkdirSync(this.project(".tickets"));
    this.git("add", "README", "crew.toml");
    this.git("commit", "-q", "-m", "first");
  }

  path(...names) {
    return join(this.folder, ...names);
  }

  project(...names) {
    return this.path(this.name, ...names);
  }

  /** What every program of this world is run with: nothing of the developer's. */
  get env() {
    const { PATH, LANG = "C.UTF-8" } = process.env;
    return {
      PATH,
      LANG,
      TZ: "UTC",
      HOME: this.path("home"),
      XDG_STATE_HOME: this.path("state"),
      XDG_CONFIG_HOME: this.path("config"),
      TMPDIR: this.path("tmp"),
      GIT_CONFIG_NOSYSTEM: "1",
    };
  }

  write(name, text) {
    const path = this.project(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  read(name) {
    return readFileSync(this.project(name), "utf8");
  }

  git(...args) {
    const { status, stdout, stderr } = spawnSync("git", args, { cwd: this.project(), env: this.env, encoding: "utf8" });
    if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
    return stdout.trim();
  }

  /** Writes a ticket's file whole, as an editor does. */
  ticket(id, { title = `Ticket ${id}`, body = "", tags = [], deps = [], priority = 2, status = "open", script = DONE } = {}) {
    this.written += 1;
    const created = new Date(Date.UTC(2026, 0, 1, 9) + this.written * 1000).toISOString().replace(".000", "");
    const text =
      `---\nid: ${id}\nstatus: ${status}\ndeps: [${deps.join(", ")}]\nlinks: []\ncreated: ${created}\ntype: task\n` +
      `priority: ${priority}\n${tags.length > 0 ? `tags: [${tags.join(", ")}]\n` : ""}---\n# ${title}\n\n${body}\n`;
    this.script(id, script);
    const beside = this.path(`ticket.${this.written}`);
    writeFileSync(beside, text);
    renameSync(beside, this.project(".tickets", `${id}.md`));
  }

  script(id, text) {
    writeFileSync(this.path("scripts", id), text);
  }

  open(gate) {
    writeFileSync(this.path("gates", gate), "");
  }

  start(args, { cwd = this.project(), env = {} } = {}) {
    const running = new Running(CREW, args, { cwd, env: { ...this.env, ...env } });
    running.name = `crew ${args.join(" ")}`;
    this.running.push(running);
    return running;
  }

  /** Runs crew to its end. */
  async crew(...args) {
    const running = this.start(args);
    await running.ended;
    return running;
  }

  /** Runs crew to its end, which must be a good one. */
  async must(...args) {
    const ran = await this.crew(...args);
    if (ran.code !== 0) throw new Error(`${ran.name} ended with ${ran.code}: ${ran.out}${ran.err}`);
    return ran.out;
  }

  async json(...args) {
    const ran = await this.crew(...args, "--json");
    try {
      return JSON.parse(ran.out);
    } catch {
      throw new Error(`${ran.name} ended with ${ran.code} and printed no document: ${ran.out}${ran.err}`);
    }
  }

  /** An engine in the background. */
  engine() {
    this.theEngine = this.start(["run", "--anyway"]);
    return this.theEngine;
  }

  /** A web server in the background, once it answers. */
  async web({ port, args = [] } = {}) {
    const at = port ?? (await freePort());
    const running = this.start(["web", "--json", "--port", String(at), ...args]);
    const said = await until(`crew web answers: ${running.name}`, () => {
      if (running.code !== undefined) throw new Error(`crew web ended with ${running.code}: ${running.out}${running.err}`);
      const line = running.out.split("\n").find(one => one.trim().startsWith("{"));
      return line && JSON.parse(line);
    });
    running.port = at;
    running.url = said.url.replace(/\/?$/, "/");
    running.pair = said.pair;
    this.theWeb = running;
    return running;
  }

  /** A new link that pairs a browser. */
  async link(...more) {
    const said = await this.json("web", "pair", ...more);
    return said.pair ?? said.url;
  }

  /** Makes every pairing code that was given too old. */
  ageCodes() {
    const path = this.path("state/crew/web/codes");
    const codes = JSON.parse(readFileSync(path, "utf8"));
    for (const code of codes) code.ends_ms = 1;
    const beside = `${path}.aged`;
    writeFileSync(beside, JSON.stringify(codes), { mode: 0o600 });
    renameSync(beside, path);
  }

  /** The address of a page of this world's repository. */
  at(page = "") {
    return `${this.theWeb.url}r/${this.name}/${page}`;
  }

  /** A call of the API as a program makes it. */
  async api(path, { token = this.token, method = "GET", body, headers = {} } = {}) {
    const answer = await fetch(`${this.theWeb.url}api/v1/${path}`, {
      method,
      headers: {
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    let json;
    try {
      json = JSON.parse(text);
    } catch {
      // It is no document.
    }
    return { status: answer.status, headers: answer.headers, text, json };
  }

  /** Pairs this program, for what tests ask of the API. */
  async pairProgram() {
    const code = new URL(await this.link()).hash.slice(1);
    const answer = await this.api("pair", { token: null, method: "POST", body: { code, name: "a test" } });
    if (answer.status >= 300) throw new Error(`pairing answered ${answer.status}: ${answer.text}`);
    this.token = answer.json.token;
    return this.token;
  }

  /** Waits until a ticket's work is on the target, and its file says so. */
  async landed(id) {
    await until(`${id} has landed`, () => this.read(`.tickets/${id}.md`).includes("\nstatus: closed\n"));
  }

  /** Waits for an entry of the inbox about a ticket, and returns it. */
  async item(ticket, kind) {
    return await until(`the inbox has ${kind ?? "something"} of ${ticket}`, async () => {
      const { items } = await this.json("inbox");
      return items.find(one => one.ticket === ticket && (!kind || one.kind === kind));
    });
  }

  /** Waits until the inbox has nothing about a ticket. */
  async settled(ticket) {
    await until(`the inbox has nothing of ${ticket}`, async () => {
      const { items } = await this.json("inbox");
      return !items.some(one => one.ticket === ticket);
    });
  }

  /** The rows of the journal, as `crew events` prints them. */
  async rows(...more) {
    return (await this.json("events", ...more)).events;
  }

  /** Every process that belongs to this world. */
  processes() {
    const found = [];
    for (const name of readdirSync("/proc")) {
      if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
      try {
        const shown = readFileSync(`/proc/${name}/cmdline`, "latin1") + readFileSync(`/proc/${name}/environ`, "latin1");
        if (shown.includes(this.folder)) found.push(Number(name));
      } catch {
        // It has ended meanwhile, or is another user's.
      }
    }
    return found;
  }

  /** Ends everything and removes the folder. */
  async close() {
    await until("nothing of the world is left alive", () => {
      const left = this.processes();
      for (const process_ of left) {
        try {
          process.kill(process_, "SIGKILL");
        } catch {
          // It has ended meanwhile.
        }
      }
      return left.length === 0;
    });
    await Promise.all(this.running.map(running => running.ended));
    if (!process.env.CREW_KEEP) rmSync(this.folder, { recursive: true, force: true });
  }

  /** What a person reads who wonders why a scenario failed. */
  story() {
    const lines = this.running.filter(one => one.out || one.err).slice(-6);
    return lines.map(one => `── ${one.name} (${one.code ?? "runs"})\n${one.out.slice(-1500)}${one.err.slice(-1500)}`).join("\n");
  }

  exists(...names) {
    return existsSync(this.path(...names));
  }
}
