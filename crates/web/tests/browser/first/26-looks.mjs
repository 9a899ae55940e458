// Looks that people need: four times as large, and the colours of their system.
import assert from "node:assert/strict";
import { axe, scenario } from "../harness.mjs";
import { assertFits, button, visit } from "../ui.mjs";
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
