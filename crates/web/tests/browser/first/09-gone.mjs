// What the page shows when the engine, or the server, is killed: that it is stale, and then all that came meanwhile.
import assert from "node:assert/strict";
import { scenario } from "../harness.mjs";
import { button, live, press, row, stale, visit } from "../ui.mjs";
import { until } from "../wait.mjs";
import { ASKS, DONE } from "../world.mjs";

scenario("(9) the engine is killed, then the server: it is said, and nothing is missing afterwards", async scene => {
  const world = await scene.world({ agents: "count = 2" }, { engine: true });
  world.ticket("t-1", { title: "The first" });
  await world.landed("t-1");
  const page = await scene.device(world);
  await visit(page, world, "tickets");
  // The engine: the page says that none runs, and acts stay.
  await world.theEngine.kill("SIGKILL");
  await page.getByText("no engine").first().waitFor();
  world.engine();
  await page.getByText("no engine").first().waitFor({ state: "detached" });
  // The server: what is shown is stale, and says so; it comes back by itself.
  await world.theWeb.kill("SIGKILL");
  await stale(page);
  world.ticket("t-2", { title: "Written meanwhile", script: ASKS("Which one?") });
  await world.item("t-2", "question");
  assert.equal(await page.getByText("Written meanwhile").count(), 0);
  await world.web({ port: world.theWeb.port });
  await live(page);
  await row(page, "t-2").waitFor();
  await visit(page, world, "inbox");
  await page.getByText("Which one?").first().waitFor();
});

scenario("(9) rows that came while the server was dead are shown, each once", async scene => {
  const world = await scene.world({}, { engine: true });
  world.ticket("t-1");
  await world.landed("t-1");
  const page = await scene.device(world);
  await visit(page, world, "events");
  await page.locator("main [data-row]").first().waitFor();
  await world.theWeb.kill("SIGKILL");
  await stale(page);
  world.ticket("t-2", { script: DONE });
  await world.landed("t-2");
  await world.web({ port: world.theWeb.port });
  await live(page);
  const rows = (await world.rows()).filter(one => one.stream === "ticket/t-2" || one.stream === "t-2");
  const last = Math.max(...rows.map(one => one.seq));
  await until("the last row is shown", async () => (await shownRows(page)).includes(last));
  const shown = await shownRows(page);
  assert.deepEqual(shown, [...new Set(shown)], "a row is shown twice");
  const newest = Math.max(...shown);
  const oldest = Math.min(...shown);
  assert.equal(shown.length, newest - oldest + 1, `rows are missing between ${oldest} and ${newest}: ${shown}`);
});

/** The numbers of the rows that are in the list. */
const shownRows = page =>
  page.evaluate(() => [...document.querySelectorAll("main [data-row]")].map(one => Number(one.dataset.row)));

scenario("(9) an act whose answer was lost is done once", async scene => {
  const world = await scene.world({}, { engine: true });
  world.ticket("t-1", { title: "Choose a store", script: ASKS("Which store?") });
  const item = await world.item("t-1", "question");
  const page = await scene.device(world);
  await visit(page, world, `inbox/${item.id}`);
  // The server carries it out, and its answer never comes.
  let lost = 0;
  await page.route("**/acts/**", async route => {
    if (lost > 0) return await route.continue();
    lost += 1;
    await route.fetch();
    return await route.abort("connectionreset");
  });
  await page.getByRole("textbox", { name: /answer/i }).first().fill("the answer is a cookie");
  await press(button(page, /^Answer/));
  // It was asked for again by the same id: the page says that it is done, and not that it was too late.
  await page.locator(".toast.good").first().waitFor();
  await world.landed("t-1");
  assert.equal(lost, 1);
  const answers = (await world.rows()).filter(one => one.kind === "answered");
  assert.equal(answers.length, 1, JSON.stringify(answers));
});
