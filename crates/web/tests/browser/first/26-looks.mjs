// Looks that people need: four times as large, and the colours of their system.
import assert from "node:assert/strict";
import { axe, scenario } from "../harness.mjs";
import { assertFits, button, visit } from "../ui.mjs";
import { until } from "../wait.mjs";
import { ASKS } from "../world.mjs";

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
