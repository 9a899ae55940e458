// What the page takes while much happens for ten minutes: its heap does not grow, and it stays small.
import assert from "node:assert/strict";
import { scenario } from "../harness.mjs";
import { live, row, taken, visit } from "../ui.mjs";
import { until } from "../wait.mjs";

const MINUTES = Number(process.env.CREW_MINUTES ?? 10);

/** The heap after a collection, in MB. */
const heap = async session => {
  await session.send("HeapProfiler.collectGarbage");
  const { metrics } = await session.send("Performance.getMetrics");
  return metrics.find(one => one.name === "JSHeapUsedSize").value / 1e6;
};

scenario(`(load) the page is as small after ${MINUTES} minutes of work as after one`, async scene => {
  const world = await scene.world({ agents: "count = 8", run: "max_workers = 8" }, { engine: true });
  const page = await scene.device(world);
  await visit(page, world, "tickets");
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const begun = Date.now();
  let after = null;
  let n = 0;
  while (Date.now() - begun < MINUTES * 60_000) {
    for (let more = 0; more < 20; more += 1) world.ticket(`t-${n++}`);
    await world.landed(`t-${n - 1}`);
    if (!after && Date.now() - begun > 60_000) after = await heap(session);
  }
  const at = await heap(session);
  const { elements } = await taken(page);
  console.log(`${n} tickets landed; heap ${after?.toFixed(1)} MB after a minute, ${at.toFixed(1)} MB at the end; ${elements} elements`);
  assert.ok(at <= 80, `the heap is ${at} MB`);
  assert.ok(elements <= 3_000, `the page has ${elements} elements`);
  // What landed is kept, up to a hundred: more than that does not add up.
  assert.ok(!after || at <= after * 1.5 + 5, `the heap grew from ${after} to ${at} MB`);
  await live(page);
}, { deadline: (MINUTES + 5) * 60_000 });

scenario("(load) of 5,000 tickets the page draws what is in the window", async scene => {
  const world = await scene.world();
  for (let n = 0; n < 5_000; n += 1) world.ticket(`t-${n}`, { title: `One of many, ${n}`, deps: n ? ["t-0"] : [] });
  const page = await scene.device(world);
  await visit(page, world, "tickets");
  await row(page, "t-0").waitFor();
  assert.ok((await taken(page)).elements <= 3_000);
  await page.keyboard.press("G");
  await until("the last one is shown", async () => (await page.locator('[data-row]').last().getAttribute("data-row")) !== "t-0");
  await page.keyboard.press("/");
  await page.keyboard.type("many, 4321");
  await row(page, "t-4321").waitFor();
  await until("nothing else is shown", async () => (await page.locator("main [data-row]").count()) === 1);
}, { deadline: 300_000 });
