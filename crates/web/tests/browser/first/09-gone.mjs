// What the page shows when the engine, or the server, is killed: that it is stale, and then all that came meanwhile.
import assert from "node:assert/strict";
import { cpSync } from "node:fs";
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
  // The engine is stopped by a signal: who, since when, and what to type.
  const bar = page.getByRole("region", { name: "State" });
  const { pid } = world.theEngine.child;
  process.kill(pid, "SIGSTOP");
  await bar.getByText(/The engine is stopped by a signal \(process \d+ on .* since /).first().waitFor();
  await bar.getByText(`kill -CONT ${pid}`, { exact: true }).first().waitFor();
  process.kill(pid, "SIGCONT");
  await bar.getByText(/stopped by a signal/).first().waitFor({ state: "detached" });
  // It is killed: the page says that none runs, that the last one ended without a word, and acts stay.
  await world.theEngine.kill("SIGKILL");
  await page.getByText("no engine").first().waitFor();
  await bar.getByText(/The engine is gone without a word/).first().waitFor();
  await bar.getByText("crew run", { exact: true }).first().waitFor();
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

scenario("(9) a server that stands still is noticed before long, by every tab, and heard again when it goes on", async scene => {
  const world = await scene.world({}, { engine: true });
  world.ticket("t-2", { title: "Of before", script: "echo begun\ngate t-2\necho went on\ngate never\n" });
  const page = await scene.device(world);
  await visit(page, world, "tickets");
  await row(page, "t-2").getByText("working").waitFor();
  const other = await scene.tab(page.context());
  await visit(other, world, "tickets");
  const third = await scene.tab(page.context());
  await visit(third, world, "t/t-2/output");
  await third.getByText("follows the end").waitFor();
  const { pid } = world.theWeb.child;
  process.kill(pid, "SIGSTOP");
  // No connection breaks: the page has only the silence to go by.
  for (const tab of [page, other, third]) await stale(tab);
  await third.getByText(/^◌ as of .*, reconnecting$/).waitFor();
  world.ticket("t-3", { title: "Of meanwhile" });
  world.open("t-2");
  await page.getByText("Acts wait until it does.").waitFor();
  process.kill(pid, "SIGCONT");
  for (const tab of [page, other]) {
    await live(tab);
    await row(tab, "t-3").waitFor();
  }
  await third.getByText("went on").waitFor();
});

scenario("(9) without an engine and without the server the page says one thing", async scene => {
  const world = await scene.world();
  const page = await scene.device(world);
  await visit(page, world, "tickets");
  const bar = page.getByRole("region", { name: "State" });
  const atOnce = bar.getByText("What you do here is carried out at once.");
  await atOnce.waitFor();
  await world.theWeb.kill("SIGKILL");
  await bar.getByText("Acts wait until it does.").waitFor();
  assert.equal(await atOnce.count(), 0);
  await world.web({ port: world.theWeb.port });
  await live(page);
  await atOnce.waitFor();
});

scenario("(9) a page that is opened while no server runs says so, once crew was shown for a while", async scene => {
  const world = await scene.world();
  const page = await scene.device(world);
  await visit(page, world, "tickets");
  const isKept = async () => {
    await navigator.serviceWorker.ready;
    const kept = await Promise.all((await caches.keys()).map(async name => (await (await caches.open(name)).keys()).map(({ url }) => url)));
    // All of it: a page of which a module is missing shows nothing.
    const loaded = performance.getEntriesByType("resource").map(({ name }) => name).filter(url => new URL(url).pathname.startsWith("/a/"));
    return loaded.length > 0 && loaded.every(url => kept.flat().includes(url));
  };
  await until("the page is kept", () => page.evaluate(isKept));
  await world.theWeb.kill("SIGKILL");
  const cold = await scene.tab(page.context());
  await cold.goto(world.at("inbox"));
  await cold.getByRole("heading", { name: "crew cannot be reached" }).waitFor();
  await world.web({ port: world.theWeb.port });
  await live(cold);
});

scenario("(9) another server takes the address: nothing of the old one is shown as if it held", async scene => {
  const first = await scene.world();
  first.ticket("t-1", { title: "Of the first" });
  const page = await scene.device(first);
  await visit(page, first, "tickets");
  await row(page, "t-1").waitFor();
  const name = page.getByRole("banner").getByRole("link", { name: first.name });
  assert.equal(await name.getAttribute("title"), first.project());
  const { port } = first.theWeb;
  /** The same devices, and another repository. */
  const next = async (settings, title) => {
    const world = await scene.world(settings, { web: false });
    cpSync(first.path("state/crew/web"), world.path("state/crew/web"), { recursive: true });
    world.ticket("t-2", { title });
    await scene.worlds.at(-2).theWeb.kill("SIGKILL");
    await world.web({ port });
    return world;
  };
  // Another folder of the same name: the page begins anew, and says so.
  const second = await next({}, "Of the second");
  await page.locator(".toast", { hasText: second.project() }).waitFor();
  await row(page, "t-2").waitFor();
  await live(page);
  assert.equal(await page.getByText("Of the first").count(), 0);
  assert.equal(await name.getAttribute("title"), second.project());
  // Another repository: the one that was shown is not there, and a link leads to the one that is.
  const third = await next({ name: "other" }, "Of the third");
  await page.getByText("There is no such repository here.").waitFor();
  assert.equal(await page.locator(".live.good").count(), 0);
  assert.equal(await page.getByText("Of the second").count(), 0);
  assert.doesNotMatch(await page.title(), new RegExp(second.name));
  await page.getByRole("main").getByRole("link", { name: third.name }).click();
  await live(page);
  await page.getByRole("navigation").getByRole("link", { name: "Tickets" }).click();
  await page.getByText("Of the third").first().waitFor();
});

scenario("(9) rows that came while the server was dead are shown, each once", async scene => {
  const world = await scene.world({}, { engine: true });
  world.ticket("t-1");
  await world.landed("t-1");
  const page = await scene.device(world);
  await visit(page, world, "events");
  await page.locator("main [data-row]").first().waitFor();
  // The history of a ticket is read once more where rows of it have come.
  const other = await scene.tab(page.context());
  await visit(other, world, "t/t-2/history");
  await world.theWeb.kill("SIGKILL");
  await stale(page);
  world.ticket("t-2", { script: DONE });
  await world.landed("t-2");
  const asked = page.watched.requests.length;
  await world.web({ port: world.theWeb.port });
  await live(page);
  const rows = (await world.rows()).filter(one => one.stream === "ticket/t-2" || one.stream === "t-2");
  const last = Math.max(...rows.map(one => one.seq));
  await until("the last row is shown", async () => (await shownRows(page)).includes(last));
  const shown = await shownRows(page);
  assert.deepEqual(shown, [...new Set(shown)], "a row is shown twice");
  // They came by the stream: the page has read none of them.
  assert.deepEqual(page.watched.requests.slice(asked).map(one => one.url()).filter(url => url.includes("/events")), []);
  await other.locator(".history li", { hasText: "landed" }).first().waitFor();
  const newest = Math.max(...shown);
  const oldest = Math.min(...shown);
  assert.equal(shown.length, newest - oldest + 1, `rows are missing between ${oldest} and ${newest}: ${shown}`);
});

/** The numbers of the rows that are in the list. */
const shownRows = page =>
  page.evaluate(() => [...document.querySelectorAll("main [data-row]")].map(one => Number(one.dataset.row)));

for (const [words, dies] of [["", false], [" with the server", true]]) scenario(`(9) an act whose answer was lost${words} is done once`, async scene => {
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
    if (dies) {
      await world.theWeb.kill("SIGKILL");
      await world.web({ port: world.theWeb.port });
    }
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
