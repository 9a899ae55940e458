// Looks that people need: four times as large, and the colours of their system.
import assert from "node:assert/strict";
import { DESK, PHONE, axe, scenario } from "../harness.mjs";
import { assertFits, button, live, settledDown, visit } from "../ui.mjs";
import { until } from "../wait.mjs";
import { ASKS, DONE } from "../world.mjs";

scenario("(26) at 400 % and in forced colours everything can be read and reached", async scene => {
  const world = await scene.world({}, { engine: true });
  world.ticket("t-1", { title: "Choose a store", script: ASKS("Which store?") });
  const item = await world.item("t-1", "question");
  // 1280 px at 400 % are 320 px of CSS.
  const page = await scene.device(world, { size: { width: 320, height: 256 }, context: { forcedColors: "active", isMobile: false, hasTouch: false } });
  const found = [];
  for (const path of ["", "inbox", `inbox/${item.id}`, "tickets", "t/t-1", "agents", "train", "cost", "events", "health"]) {
    await visit(page, world, path);
    await assertFits(page, `${path || "now"} at 400 %`).catch(error => found.push(error.message));
  }
  assert.equal(found.join("\n"), "");
  await visit(page, world, `inbox/${item.id}`);
  await axe(page, "forced colours");
  const press = button(page, /^Answer/).first();
  await press.scrollIntoViewIfNeeded();
  await press.focus();
  const look = await press.evaluate(one => {
    const { outlineStyle, outlineWidth, borderStyle } = getComputedStyle(one);
    return { outlineStyle, outlineWidth, borderStyle };
  });
  assert.notEqual(look.borderStyle, "none", "in forced colours a button has no edge");
  // Bars do not cover what is read: the button can be pressed where it is.
  const box = await press.boundingBox();
  const top = await page.evaluate(([x, y]) => document.elementFromPoint(x, y)?.closest("button")?.innerText, [box.x + box.width / 2, box.y + box.height / 2]);
  assert.match(top ?? "nothing", /^Answer/);
});

scenario("(26) in a low window the output has room, and the page scrolls to it", async scene => {
  const world = await scene.world({}, { engine: true });
  world.ticket("t-1", { title: "Choose a store", script: ASKS("Which store?") });
  await world.item("t-1", "question");
  const page = await scene.device(world, { size: { width: 360, height: 225 } });
  await visit(page, world, "t/t-1/output");
  // 400 %, a phone on its side, and a small window.
  for (const size of [{ width: 360, height: 225 }, { width: 667, height: 375 }, { width: 480, height: 300 }]) {
    await page.setViewportSize(size);
    const line = page.locator("[data-at]").last();
    await line.waitFor();
    const box = await page.locator(".output-box").boundingBox();
    assert.ok(box.height >= 192, `the output is ${box.height} px high in a window of ${size.width}×${size.height}`);
    await page.locator(".output-page").evaluate(one => one.scrollTo({ top: 0 }));
    await page.mouse.move(size.width / 2, size.height / 2);
    await until(`the last line is seen in a window of ${size.width}×${size.height}`, async () => {
      const isSeen = await line.evaluate(one => {
        const { left, right, top, height } = one.getBoundingClientRect();
        return document.elementFromPoint((left + right) / 2, top + height / 2)?.closest("[data-at]") === one;
      });
      if (!isSeen) await page.mouse.wheel(0, 20);
      return isSeen;
    });
  }
});

scenario("(26) before the modules are there the head is, as it is afterwards", async scene => {
  const world = await scene.world();
  const paired = await scene.device(world, { context: { serviceWorkers: "block" } });
  const storageState = await paired.context().storageState();
  for (const [size, theme] of [[PHONE, "light"], [DESK, "dark"]]) {
    const page = await scene.device(null, { size, theme, context: { storageState, serviceWorkers: "block" } });
    let release;
    const held = new Promise(resolve => { release = resolve; });
    await page.route("**/src/main.js", async route => {
      await held;
      await route.continue();
    });
    await page.goto(world.at("tickets"), { waitUntil: "commit" });
    const look = () => page.evaluate(() => [".head", ".head .brand"].map(it => {
      const one = document.querySelector(it);
      const { x, y, width, height } = one.getBoundingClientRect();
      const { color, backgroundColor, font } = getComputedStyle(one);
      return { it, x, y, width, height, color, backgroundColor, font };
    }));
    await page.getByRole("banner").getByRole("link", { name: "crew" }).waitFor();
    await until("its looks are there", async () => (await look())[0].backgroundColor !== "rgba(0, 0, 0, 0)");
    await assertFits(page, "the head alone");
    const before = await look();
    release();
    await live(page);
    assert.deepEqual(await look(), before);
    assert.deepEqual([await page.locator(".head").count(), await page.locator("noscript").count()], [1, 0]);
    await page.close();
  }
});

/** What of an element's text is cut off at its beginning, in px. */
const lost = title =>
  title.evaluate(it => {
    const range = document.createRange();
    const text = document.createTreeWalker(it, NodeFilter.SHOW_TEXT).nextNode();
    range.setStart(text, 0);
    range.setEnd(text, 1);
    const { left, right } = range.getBoundingClientRect();
    let cut = 0;
    for (let box = it; box; box = box.parentElement) {
      if (getComputedStyle(box).overflowX === "visible") continue;
      const { left: from, right: to } = box.getBoundingClientRect();
      cut = Math.max(cut, from - left, right - to);
    }
    return cut;
  });

scenario("(26) a title that is read from the right keeps its beginning in a narrow row", async scene => {
  const title = "\u05e1\u05d9\u05db\u05d5\u05dd \u05e9\u05dc \u05db\u05dc \u05d4\u05de\u05d9\u05dc\u05d9\u05dd ".repeat(5).trim();
  const world = await scene.world({}, { engine: true });
  for (const id of ["t-1", "t-2"]) world.ticket(id, { title, tags: ["words"], script: id === "t-1" ? DONE : "echo 'BLOCKED: no key'\n" });
  await world.landed("t-1");
  await world.item("t-2");
  for (const size of [PHONE, DESK]) {
    const page = await scene.device(world, { size });
    for (const path of ["", "inbox", "tickets", "tickets?over=true", "train"]) {
      await visit(page, world, path);
      await settledDown(page);
      const all = page.locator("main :is(.row, .rows li, .landed li, .gantt-names li) bdi").filter({ hasText: title, visible: true });
      assert.notEqual(await all.count(), 0, path);
      for (const one of await all.all()) assert.ok((await lost(one)) <= 1, `${path} at ${size.width} px cuts ${await lost(one)} px of its beginning off`);
      await assertFits(page, path);
    }
  }
});
