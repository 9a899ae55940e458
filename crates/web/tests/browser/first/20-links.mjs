// Every address by itself: opened cold, in a browser that has nothing but its pairing. On each page axe finds nothing,
// nothing is cut off, and the first page costs no more than it may.
import assert from "node:assert/strict";
import { PHONE, axe, scenario } from "../harness.mjs";
import { enrich, pages, SETTINGS } from "../rich.mjs";
import { assertFits, live, settledDown, taken, visit } from "../ui.mjs";

/** The pages are shared out: a scenario that opened them all would outlast the others. */
const SHARES = 3;

for (let share = 0; share < SHARES; share += 1) {
  scenario(`(20) every address is shown cold, axe finds nothing on it, and nothing is cut off: share ${share + 1} of ${SHARES}`, async scene => {
    const world = await scene.world(SETTINGS);
    const items = await enrich(world);
    const first = await scene.device(world);
    const found = [];
    const mine = (await pages(world, items)).filter((_, nth) => nth % SHARES === share);
    assert.notEqual(mine.length, 0);
    for (const [name, path] of mine) {
      const page = await scene.tab(first.context());
      await page.goto(new URL(path, world.at()).href);
      await live(page);
      await page.locator("h1").first().waitFor({ state: "attached" });
      await settledDown(page);
      for (const look of [() => axe(page, name), () => assertFits(page, name)]) await look().catch(error => found.push(error.message));
      assert.equal(await page.locator("h1").count(), 1, `${name} has one heading`);
      assert.notEqual(await page.title(), "", `${name} has a title`);
      await page.close();
    }
    assert.equal(found.join("\n"), "");
  }, { deadline: 240_000 });
}

scenario("(20) at 390 px nothing is cut off on any page", async scene => {
  const world = await scene.world(SETTINGS);
  const items = await enrich(world);
  const page = await scene.device(world, { size: PHONE });
  const found = [];
  for (const [name, path] of await pages(world, items)) {
    await page.goto(new URL(path, world.at()).href);
    await live(page);
    await settledDown(page);
    await assertFits(page, name).catch(error => found.push(error.message));
  }
  assert.equal(found.join("\n"), "");
}, { deadline: 240_000 });

scenario("(20) what is over, and what never was, is said at its address", async scene => {
  const world = await scene.world({}, { engine: true });
  world.ticket("t-1", { title: "It landed" });
  world.ticket("t-2", { title: "Lacks something", script: "echo 'BLOCKED: no key'\n" });
  await world.landed("t-1");
  const item = await world.item("t-2");
  await world.must("drop", "t-2");
  await world.settled("t-2");
  const page = await scene.device(world);
  await visit(page, world, "t/t-1");
  await page.getByText("It landed").first().waitFor();
  await visit(page, world, `inbox/${item.id}`);
  await page.getByText("This waits no more").first().waitFor();
  // How, by whom and when, from the history.
  const dropped = (await world.rows()).find(one => one.kind === "dropped");
  await page.locator("main").getByText(dropped.says.slice(1)).first().waitFor();
  await page.locator(`main time[datetime="${dropped.at}"]`).first().waitFor();
  await page.getByRole("link", { name: "Ticket t-2" }).first().waitFor();
  for (const never of ["held:t-404:1", "held:t-2:1", "nonsense", "question:t-1:5"]) {
    await visit(page, world, `inbox/${never}`);
    await page.getByText("Nothing ever waited here").first().waitFor();
  }
  await visit(page, world, "t/t-404");
  await page.getByText(/t-404/).first().waitFor();
  await page.getByText(/no ticket|never|not known|no such/i).first().waitFor();
  await visit(page, world, "a/nobody");
  await page.getByText(/no agent|never|no such/i).first().waitFor();
  // No list stands in for a page that is none, whatever the name of it.
  for (const none of ["nowhere", "constructor", "tickets/t-1", "train/last", "agents/ada", "t", "t/t-1/nothing", "inbox/a/b"]) {
    await visit(page, world, none);
    await page.getByText("There is no such page.").waitFor();
  }
  await axe(page, "no such page");
  await page.getByRole("main").getByRole("link", { name: "All tickets" }).click();
  await page.getByText("No ticket is open.").waitFor();
  await page.goto(`${world.theWeb.url}nowhere`);
  await page.getByText("There is no such page.").waitFor();
  await page.goto(`${world.theWeb.url}r/another/tickets`);
  await page.getByText(/no such repository/i).first().waitFor();
});

scenario("(20) the page of a ticket says why it stands so, and what helps", async scene => {
  const world = await scene.world({}, { engine: true });
  world.ticket("t-1", { title: "It landed" });
  world.ticket("t-2", { title: "Lacks something", script: "echo 'BLOCKED: there is no key'\n" });
  world.ticket("t-3", { title: "Waits for it", deps: ["t-2"] });
  await world.landed("t-1");
  await world.item("t-2", "blocked");
  const page = await scene.device(world);
  const why = page.getByRole("region", { name: "Why" });
  const said = async id => (await world.json("explain", id)).says;
  await visit(page, world, "t/t-3");
  await why.getByText(await said("t-3"), { exact: false }).first().waitFor();
  await visit(page, world, "t/t-2");
  await why.getByText("there is no key").first().waitFor();
  // What helps: the words of the command line, their lines set apart as code; the acts of the page have them to copy.
  const helps = why.getByRole("list", { name: "What helps" });
  await helps.getByText("crew retry t-2", { exact: true }).first().waitFor();
  assert.equal(await helps.locator("code").first().textContent(), "crew retry t-2");
  assert.equal((await helps.textContent()).includes("`"), false);
  // The reason changes with what it waits for.
  await visit(page, world, "t/t-3");
  await world.must("drop", "t-2");
  await why.getByRole("list", { name: "What helps" }).getByText("crew ticket reopen t-2", { exact: true }).first().waitFor();
  await visit(page, world, "t/t-1");
  await why.getByText("Landed as").first().waitFor();
});

scenario("the first page keeps to its budget of requests, bytes and elements", async scene => {
  const world = await scene.world();
  for (let n = 0; n < 300; n += 1) world.ticket(`t-${n}`, { title: `One of many, ${n}`, deps: n ? ["t-0"] : [] });
  // What a service worker hands over counts as unpacked: bytes are counted as the server sends them.
  const paired = await scene.device(world, { context: { serviceWorkers: "block" } });
  for (const path of ["", "inbox", "tickets"]) {
    // A first visit: nothing is kept but the pairing.
    const page = await scene.device(null, { context: { storageState: await paired.context().storageState(), serviceWorkers: "block" } });
    await visit(page, world, path);
    await settledDown(page);
    const { requests, raw, packed, elements } = await taken(page);
    console.log(`${path || "now"}: ${requests} requests, ${raw} bytes raw, ${packed} as sent, ${elements} elements`);
    assert.ok(requests <= 35, `${path}: ${requests} requests`);
    assert.ok(raw <= 420_000, `${path}: ${raw} bytes`);
    assert.ok(elements <= 3_000, `${path}: ${elements} elements`);
    assert.ok(packed <= 120_000, `${path}: ${packed} bytes as sent`);
    await page.close();
  }
});
