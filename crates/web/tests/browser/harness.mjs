// What the scenarios share: one browser, a context of its own for each page, and what holds on every page whatever
// a scenario does: no error, no violation of the policy, no request to anybody else.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { World } from "./world.mjs";

const here = dirname(fileURLToPath(import.meta.url));
export const root = join(here, "../../../..");
const tools = process.env.CREW_WEB_TOOLS ?? join(root, "target/web");
const require = createRequire(join(tools, "package.json"));

export const { chromium } = require("playwright-core");
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** Where a person finds what a scenario left. */
export const LEFT = join(root, "target/web-failures");
/** Widths in CSS pixels, and heights. */
export const PHONE = { width: 390, height: 844 };
export const TABLET = { width: 768, height: 1024 };
export const DESK = { width: 1440, height: 900 };

/** The scenarios, as their files name them. */
export const scenarios = [];

/** Names a scenario. `run` gets a {@link Scene}; `waits` is why it cannot be played yet, and stands in its name. */
export function scenario(name, run, { deadline = 120_000, waits = null } = {}) {
  scenarios.push({ name: waits ? `${name} [waits: ${waits}]` : name, run, deadline, waits });
}

const FLAGS = [
  "--no-sandbox",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-features=Translate,MediaRouter,OptimizationHints",
  "--font-render-hinting=none",
];

/** Starts the system's browser. */
export const launch = (more = []) =>
  chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: [...FLAGS, ...more] });

let shared;
/** The browser of all scenarios. */
export const browser = () => (shared ??= launch());
export const closeBrowser = async () => shared && (await shared).close();

/** A page, and what has happened on it. */
class Watched {
  constructor(page, origins) {
    this.page = page;
    this.origins = origins;
    this.faults = [];
    this.requests = [];
    /** Requests that are not answered yet, but for those that go on for as long as something is followed. */
    this.open = new Set();
    this.console = [];
    page.on("pageerror", error => this.faults.push(`error on the page: ${error.stack ?? error.message}`));
    page.on("console", message => {
      const text = message.text();
      this.console.push(`${message.type()}: ${text}`);
      if (/Content Security Policy|Trusted ?Type|Refused to/i.test(text)) this.faults.push(`violates the policy: ${text}`);
    });
    for (const end of ["requestfinished", "requestfailed"]) page.on(end, request => this.open.delete(request));
    page.on("request", request => {
      if (!/\/(stream|follow)\b/.test(request.url())) this.open.add(request);
      const url = new URL(request.url());
      this.requests.push(request);
      const isOurs = url.protocol === "data:" || url.protocol === "blob:" || this.origins().includes(url.origin);
      if (!isOurs) this.faults.push(`asks another origin: ${request.url()}`);
    });
    page.on("dialog", dialog => {
      this.faults.push(`a dialog of the browser's: ${dialog.message()}`);
      dialog.dismiss().catch(() => {});
    });
    page.on("crash", () => this.faults.push("the page crashed"));
  }
}

/** A scenario that is played: its worlds and its pages. */
export class Scene {
  constructor(name) {
    this.name = name;
    this.worlds = [];
    this.contexts = [];
    this.watched = [];
    /** What a scenario has a reason to see: a pattern of faults. */
    this.expected = [];
    /** What has to end with the scenario, however it ends. */
    this.closing = [];
  }

  /** A new world with a web server. */
  async world(settings = {}, { web = true, engine = false } = {}) {
    const world = new World(settings);
    this.worlds.push(world);
    if (settings.before) settings.before(world);
    if (engine) world.engine();
    if (web) await world.web();
    return world;
  }

  /** A browser of its own with one tab; paired with the world's server, if one is given. */
  async device(world, { size = DESK, theme = "light", pair = true, look = false, context: more = {}, browser: other } = {}) {
    const context = await (other ?? (await browser())).newContext({
      viewport: size,
      colorScheme: theme,
      locale: "en-GB",
      timezoneId: "UTC",
      reducedMotion: "reduce",
      hasTouch: size.width < 700,
      isMobile: size.width < 700,
      ...more,
    });
    context.setDefaultTimeout(20_000);
    this.contexts.push(context);
    const page = await this.tab(context);
    if (world && pair) {
      const link = look || this.worlds.length > 1 || world.paired ? await world.link(...(look ? ["--look"] : [])) : world.theWeb.pair;
      world.paired = true;
      await page.goto(link);
      await page.getByRole("navigation").first().waitFor();
    }
    return page;
  }

  /** Another tab of a browser. */
  async tab(context) {
    return this.watch(await context.newPage());
  }

  /** A page that has come to be, as a tab or a window of its own. */
  watch(page) {
    const origins = () => this.worlds.flatMap(world => world.running.flatMap(one => (one.url ? [new URL(one.url).origin] : [])));
    const watched = new Watched(page, () => [...origins(), ...(this.others ?? [])]);
    this.watched.push(watched);
    page.watched = watched;
    return page;
  }

  /** What holds on every page. */
  assertWell() {
    const faults = this.watched.flatMap(watched => watched.faults);
    const left = faults.filter(fault => !this.expected.some(pattern => pattern.test(fault)));
    assert.deepEqual(left, [], `${left.length} faults on the pages of: ${this.name}`);
  }

  async close({ failed }) {
    if (failed) await this.leave();
    for (const close of this.closing) await close();
    for (const context of this.contexts) await context.close().catch(() => {});
    for (const world of this.worlds) await world.close();
  }

  /** Leaves what a person needs to find out why it failed. */
  async leave() {
    mkdirSync(LEFT, { recursive: true });
    const name = this.name.replace(/[^a-z0-9]+/gi, "-").slice(0, 60);
    let text = "";
    for (const [n, { page, console: said, faults }] of this.watched.entries()) {
      if (page.isClosed()) continue;
      await page.screenshot({ path: join(LEFT, `${name}.${n}.png`), timeout: 5_000 }).catch(() => {});
      const body = await page.evaluate(() => document.body?.innerText).catch(error => String(error));
      text += `── ${page.url()}\n${body}\n${said.join("\n")}\n${faults.join("\n")}\n`;
    }
    for (const world of this.worlds) text += world.story();
    writeFileSync(join(LEFT, `${name}.txt`), text);
  }
}

/** Plays a scenario from its beginning to its end. */
export async function play({ name, run, deadline }) {
  const scene = new Scene(name);
  let failed = true;
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the scenario takes longer than ${deadline / 1000} s`)), deadline);
  });
  try {
    await Promise.race([Promise.resolve(run(scene)), late]);
    scene.assertWell();
    failed = false;
  } finally {
    clearTimeout(timer);
    await scene.close({ failed });
  }
}

/** Fails where axe finds anything on the page. */
export async function axe(page, what) {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(AXE);
  const found = await page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, {
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    });
    return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 4).map(node => node.target.join(" ")).join(", ")}`);
  });
  assert.deepEqual(found, [], `axe finds something: ${what}`);
}
