// Nothing moves under the pointer: rows that come while a person chooses wait behind a button.
import assert from "node:assert/strict";
import { scenario } from "../harness.mjs";
import { row, visit } from "../ui.mjs";

scenario("(13) rows that come while a person chooses move nothing", async scene => {
  const world = await scene.world();
  for (let n = 10; n < 30; n += 1) world.ticket(`t-${n}`, { title: `One of many, ${n}` });
  const page = await scene.device(world);
  await visit(page, world, "tickets");
  const chosen = row(page, "t-15");
  await chosen.hover();
  const before = await chosen.boundingBox();
  for (let n = 40; n < 60; n += 1) world.ticket(`t-${n}`, { title: `Urgent, ${n}`, priority: 0 });
  const fresh = page.getByRole("button", { name: /20 new/ });
  await fresh.waitFor();
  const under = await page.evaluate(([x, y]) => document.elementFromPoint(x, y)?.closest("[data-row]")?.dataset.row, [
    before.x + before.width / 2,
    before.y + before.height / 2,
  ]);
  const now = await chosen.boundingBox();
  assert.equal(under, "t-15", "another row is under the pointer");
  assert.equal(now.y, before.y, "the row has moved");
  await chosen.locator("a").first().click();
  await page.getByText("One of many, 15").first().waitFor();
  await visit(page, world, "tickets");
  await row(page, "t-40").waitFor();
});
