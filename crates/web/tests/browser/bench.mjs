// What the page costs, for `cargo xtask bench web`: prints a line of JSON for each thing that is measured.
//
//   node bench.mjs [--quick] [PART]...      with CREW naming the program
import { readFileSync } from "node:fs";
import { DESK, PHONE, Scene, closeBrowser } from "./harness.mjs";
import { button, live, press, row, visit } from "./ui.mjs";
import { until } from "./wait.mjs";
import { ASKS } from "./world.mjs";

const quick = process.argv.includes("--quick");
const TICKETS = quick ? 500 : 5_000;
const OPENINGS = quick ? 3 : 9;
const ANSWERS = quick ? 5 : 40;
const LANDINGS = quick ? 10 : 60;
const PAGES = 5;
/** How long nothing happens, in ms. */
const IDLE = quick ? 10_000 : 60_000;

/** One thing that was measured: what, the values, their unit, and the goals of the middle one and of nearly all. */
const tell = (what, unit, values, goals) => console.log(JSON.stringify({ what, unit, values, goals }));

/** Notes in the page when something is first seen, in ms since the page was asked for. */
const watch = (page, name, selector) =>
  page.addInitScript(
    ([key, what]) => {
      const look = () => {
        if (!(key in (globalThis.seen ??= {})) && document.querySelector(what)) {
          requestAnimationFrame(() => (globalThis.seen[key] ??= performance.now()));
        }
      };
      new MutationObserver(look).observe(document, { childList: true, subtree: true, characterData: true });
    },
    [name, selector],
  );
const seen = (page, name) => until(`${name} is there`, () => page.evaluate(key => globalThis.seen?.[key], name));

/** A long queue: most of it waits for the first ticket, which asks. */
const fill = async world => {
  world.ticket("t-0", { title: "Choose a store", script: ASKS("Which store?") });
  const item = await world.item("t-0", "question");
  for (let n = 1; n < TICKETS; n += 1) {
    world.ticket(`t-${n}`, { title: `Explain every error that a person may see, number ${n}`, deps: n % 3 ? ["t-0"] : ["t-0", `t-${Math.ceil(n / 2)}`] });
  }
  return item;
};

/** The time that a process has had of the processor, in ms: its own file counts hundredths of a second. */
const worked = process_ => {
  const [, rest] = readFileSync(`/proc/${process_.child.pid}/stat`, "utf8").split(") ");
  const [user, system] = rest.split(" ").slice(11, 13).map(Number);
  return (user + system) * 10;
};

const bytes = process_ => until("its memory is told", async () => {
  const line = readFileSync(`/proc/${process_.child.pid}/status`, "utf8").match(/VmRSS:\s+(\d+) kB/);
  return line && Number(line[1]) / 1024;
});

/** How soon the inbox can be used, on a machine and a line as given. */
const open = async (scene, world, how, { size, slow, goals }) => {
  const paints = { first: [], again: [] };
  const uses = { first: [], again: [] };
  for (let n = 0; n < OPENINGS; n += 1) {
    const page = await scene.device(world, { size });
    // Pairing has loaded the page: a browser's first visit is one with nothing stored but the pairing.
    const stored = await page.context().storageState();
    await page.context().close();
    const context = await (await page.context().browser()).newContext({ viewport: size, storageState: stored });
    const fresh = await scene.tab(context);
    if (slow) {
      const session = await context.newCDPSession(fresh);
      await session.send("Network.enable");
      await session.send("Network.emulateNetworkConditions", { offline: false, latency: 60, downloadThroughput: 1_250_000, uploadThroughput: 1_250_000 });
      await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
    }
    await watch(fresh, "item", "main [href*='inbox/']");
    for (const visit of ["first", "again"]) {
      await fresh.goto(world.at("inbox"));
      uses[visit].push(await seen(fresh, "item"));
      paints[visit].push(await fresh.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0));
    }
    await context.close();
  }
  tell(`first paint, ${how}`, "ms", paints.first, [goals.first[0]]);
  tell(`inbox usable, ${how}`, "ms", uses.first, [goals.first[1]]);
  tell(`first paint, ${how}, again`, "ms", paints.again, [goals.again[0]]);
  tell(`inbox usable, ${how}, again`, "ms", uses.again, [goals.again[1]]);
};

const long = async () => {
  const scene = new Scene("bench");
  try {
    const world = await scene.world({}, { engine: true });
    await fill(world);
    await until("the page has them all", async () => {
      world.token ?? (await world.pairProgram());
      const { docs } = (await world.api(`r/${world.name}/view`)).json;
      return docs.filter(one => one.kind === "ticket").length >= TICKETS - 1;
    });
    await open(scene, world, "loopback", { size: DESK, goals: { first: [200, 600], again: [200, 600] } });
    await open(scene, world, "a phone on a slow line", { size: PHONE, slow: true, goals: { first: [900, 1800], again: [400, 900] } });
    // A key in the filter, to the frame that shows what it left.
    const page = await scene.device(world);
    await visit(page, world, "tickets");
    await row(page, "t-1").waitFor();
    await page.keyboard.press("/");
    const keys = [];
    for (const key of "number 12".slice(0, quick ? 4 : 9)) {
      await page.evaluate(() => {
        globalThis.took = undefined;
        addEventListener("keydown", event => {
          const begun = event.timeStamp;
          requestAnimationFrame(() => requestAnimationFrame(() => (globalThis.took = performance.now() - begun)));
        }, { once: true, capture: true });
      });
      await page.keyboard.press(key === " " ? "Space" : key);
      keys.push(await until("the frame is drawn", () => page.evaluate(() => globalThis.took)));
    }
    tell(`a key in the filter, ${TICKETS} tickets`, "ms", keys, [50]);
    // The filter is emptied, so that there is something to scroll through.
    await page.locator(":focus").fill("");
    await row(page, "t-1").waitFor();
    await page.mouse.move(DESK.width / 2, DESK.height / 2);
    await page.evaluate(() => {
      globalThis.frames = [];
      let last = performance.now();
      const frame = now => {
        globalThis.frames.push(now - last);
        last = now;
        requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
    });
    for (let n = 0; n < (quick ? 10 : 100); n += 1) await page.mouse.wheel(0, 400);
    const [frames, top] = await page.evaluate(() => [globalThis.frames, [...document.querySelectorAll("*")].reduce((most, one) => Math.max(most, one.scrollTop), 0)]);
    if (top < 1000) throw new Error(`the list was scrolled by ${top} pixels`);
    tell(`a frame while the list is scrolled, ${TICKETS} tickets`, "ms", frames, [50, 50]);
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable");
    await session.send("HeapProfiler.collectGarbage");
    const { metrics } = await session.send("Performance.getMetrics");
    const metric = name => metrics.find(one => one.name === name)?.value ?? 0;
    tell(`heap of the page, ${TICKETS} tickets`, "MB", [metric("JSHeapUsedSize") / 1e6], [80]);
    tell("elements of the page", "", [await page.evaluate(() => document.querySelectorAll("*").length)], [3000]);
    for (let n = 1; n < PAGES; n += 1) await visit(await scene.device(world), world, "tickets");
    tell(`memory of the server, ${TICKETS} tickets and ${PAGES} pages`, "MiB", [await bytes(world.theWeb)], [80]);
    const begun = worked(world.theWeb);
    await new Promise(resolve => setTimeout(resolve, IDLE));
    tell(`the server while nothing happens, ${PAGES} pages`, "% of a core", [(100 * (worked(world.theWeb) - begun)) / IDLE], [0.3]);
  } finally {
    await scene.close({ failed: false });
  }
};

/** From a row's own moment to the frame that shows what it says, while agents work: that a ticket has landed. */
const rows = async () => {
  const scene = new Scene("bench");
  try {
    const world = await scene.world({ agents: "count = 4" }, { engine: true });
    const page = await scene.device(world);
    await visit(page, world);
    await page.evaluate(() => {
      globalThis.shown = {};
      const look = () => {
        const ids = [...document.querySelectorAll(".now-landed a[href*='/t/']")].map(one => one.pathname.split("/").at(-1));
        const fresh = ids.filter(id => !(id in globalThis.shown));
        if (fresh.length > 0) requestAnimationFrame(() => fresh.forEach(id => (globalThis.shown[id] ??= performance.timeOrigin + performance.now())));
      };
      new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true, attributes: true });
    });
    for (let n = 0; n < LANDINGS; n += 1) world.ticket(`t-${n}`);
    for (let n = 0; n < LANDINGS; n += 1) await world.landed(`t-${n}`);
    await live(page);
    const landed = (await world.rows()).filter(one => one.kind === "landed");
    const last = landed.at(-1).stream.split("/").at(-1);
    await until(`${last} is shown`, () => page.evaluate(id => id in globalThis.shown, last));
    const shown = await page.evaluate(() => globalThis.shown);
    const times = landed.flatMap(({ stream, at_ms: at }) => {
      const id = stream.split("/").at(-1);
      // Of several that land at once only the latest are in sight.
      return id in shown ? [Math.max(0, shown[id] - at)] : [];
    });
    tell("a row is durable → what it says is shown", "ms", times, [50, 250]);
  } finally {
    await scene.close({ failed: false });
  }
};

/** From the press of an act to the words of its outcome. */
const acts = async () => {
  const scene = new Scene("bench");
  try {
    const world = await scene.world({ agents: "count = 4" }, { engine: true });
    const page = await scene.device(world);
    const times = [];
    for (let n = 0; n < ANSWERS; n += 1) {
      world.ticket(`t-${n}`, { title: `Choose ${n}`, script: ASKS(`Which of ${n}?`) });
      const item = await world.item(`t-${n}`, "question");
      await visit(page, world, `inbox/${item.id}`);
      await page.getByRole("textbox", { name: /answer/i }).first().fill("the answer is 42");
      await page.evaluate(() => {
        globalThis.took = undefined;
        addEventListener("click", event => {
          const begun = event.timeStamp;
          const look = () => {
            if (document.querySelector(".toast") && globalThis.took === undefined) requestAnimationFrame(() => (globalThis.took ??= performance.now() - begun));
          };
          new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
        }, { once: true, capture: true });
      });
      await press(button(page, /^Answer/));
      times.push(await until("the outcome is shown", () => page.evaluate(() => globalThis.took)));
      await world.landed(`t-${n}`);
    }
    tell("an act is pressed → its outcome is shown", "ms", times, [80, 400]);
  } finally {
    await scene.close({ failed: false });
  }
};

/** The end of a long output, and the first hit in it. */
const output = async () => {
  const scene = new Scene("bench");
  try {
    const world = await scene.world({}, { engine: true });
    // As much as crew keeps of an output from its beginning: 32 MiB, less a little.
    const lines = quick ? 100_000 : 330_000;
    const words = "a line of a log that goes on and on, as logs do, for about a hundred bytes in all".padEnd(92, ".");
    const length = "0000000 \n".length + words.length;
    world.ticket("t-1", { script: `awk 'BEGIN { for (i = 1; i <= ${lines}; i++) printf "%07d %s\\n", i, "${words}" }'\ngate end\necho DONE\n` });
    const run = (await until("it runs", async () => (await world.rows()).map(one => JSON.stringify(one)).join().match(/t-1\.\d+\.\d+/)))[0];
    const page = await scene.device(world);
    await visit(page, world, `t/t-1/output?run=${run}`);
    const last = String(lines).padStart(7, "0");
    await page.getByText(`${last} a line`).first().waitFor();
    const token = await world.pairProgram();
    const ask = async path => {
      const begun = performance.now();
      const answer = await world.api(`r/${world.name}/runs/${run}/${path}`, { token });
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`);
      return performance.now() - begun;
    };
    const several = async path => {
      const times = [];
      for (let n = 0; n < 5; n += 1) times.push(await ask(path));
      return times;
    };
    const size = `${Math.round((lines * length) / 1e6)} MB`;
    tell(`the end of an output of ${size}`, "ms", await several("output?from=end&lines=300"), [300]);
    tell(`the middle of an output of ${size}`, "ms", await several(`output?from=${Math.floor((lines * length) / 2)}&lines=300`), [200]);
    tell(`the first hit in an output of ${size}`, "ms", await several(`find?q=${last}`), [1000]);
    world.open("end");
  } finally {
    await scene.close({ failed: false });
  }
};

const PARTS = { long, rows, acts, output };
const chosen = process.argv.slice(2).filter(argument => !argument.startsWith("--"));
try {
  for (const [name, part] of Object.entries(PARTS)) {
    if (chosen.length === 0 || chosen.includes(name)) await part();
  }
} finally {
  await closeBrowser();
}
