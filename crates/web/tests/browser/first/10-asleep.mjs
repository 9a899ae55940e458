// A machine that sleeps: the one on which the page is, and the one on which crew is.
import assert from "node:assert/strict";
import { PHONE, scenario } from "../harness.mjs";
import { live, row, stale, visit } from "../ui.mjs";
import { until } from "../wait.mjs";
import { ASKS } from "../world.mjs";

scenario("(10) a phone that slept for ten minutes shows what holds now, and every row that it missed", async scene => {
  const world = await scene.world({}, { engine: true });
  world.ticket("t-1");
  await world.landed("t-1");
  const page = await scene.device(world, { size: PHONE });
  await page.clock.install();
  await visit(page, world, "events");
  const before = Math.max(...(await world.rows()).map(one => one.seq));
  await until("the last row is shown", async () => (await shownRows(page)).includes(before));
  // It sleeps: nothing reaches it, and its clocks jump when it wakes.
  await page.context().setOffline(true);
  world.ticket("t-2", { title: "Written meanwhile", script: ASKS("Which one?") });
  await world.item("t-2", "question");
  await page.clock.fastForward("10:00");
  await stale(page);
  await page.context().setOffline(false);
  await live(page);
  const missed = (await world.rows()).map(one => one.seq).filter(seq => seq > before);
  assert.ok(missed.length > 3);
  await until("all rows are shown", async () => {
    const shown = await shownRows(page);
    return missed.every(seq => shown.includes(seq)) && shown.length === new Set(shown).size;
  });
  await visit(page, world, "inbox");
  await page.getByText("Written meanwhile").first().waitFor();
});

scenario("(10) while the machine of crew sleeps the page says since when it is out of date", async scene => {
  const world = await scene.world({}, { engine: true });
  world.ticket("t-1", { title: "Choose a store", script: ASKS("Which store?") });
  await world.item("t-1", "question");
  const page = await scene.device(world);
  await page.clock.install();
  await visit(page, world, "tickets");
  await row(page, "t-1").waitFor();
  // Its connections stay, and nothing comes.
  world.theWeb.child.kill("SIGSTOP");
  await page.clock.fastForward("01:00");
  await stale(page);
  await page.clock.fastForward("00:10");
  await page.getByText(/^This is as of/).waitFor();
  // What was known is still there to be read.
  assert.ok(await row(page, "t-1").isVisible());
  world.theWeb.child.kill("SIGCONT");
  await live(page);
  await page.getByText(/^This is as of/).waitFor({ state: "detached" });
});

/** The numbers of the rows that are in the list. */
const shownRows = page =>
  page.evaluate(() => [...document.querySelectorAll("main [data-row]")].map(one => Number(one.dataset.row)));
