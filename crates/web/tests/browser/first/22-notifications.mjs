// Notifications of the page: asked for by a button, shown for what newly waits, taken back when it is settled.
import assert from "node:assert/strict";
import { scenario } from "../harness.mjs";
import { visit } from "../ui.mjs";
import { until } from "../wait.mjs";
import { ASKS } from "../world.mjs";

/** What is notified now: the tag, the title and the text of each. */
const notified = page =>
  page.evaluate(async () => {
    const registration = await navigator.serviceWorker.ready;
    return (await registration.getNotifications()).map(({ tag, title, body }) => ({ tag, title, body }));
  });

scenario("(22) what newly waits is notified once, and taken back when it is settled", async scene => {
  const world = await scene.world({}, { engine: true });
  const page = await scene.device(world, { context: { permissions: ["notifications"] } });
  await page.goto(`${world.theWeb.url}device`);
  await page.getByRole("button", { name: "Turn on here" }).click();
  await page.getByRole("button", { name: "Turn off here" }).waitFor();
  // A device that shows the item is not told of it; this one shows another page.
  await visit(page, world, "health");
  world.ticket("t-1", { title: "Choose a store", script: ASKS("Which store?") });
  const item = await world.item("t-1", "question");
  const [shown, ...more] = await until("it is notified", async () => {
    const all = await notified(page);
    return all.length > 0 && all;
  });
  assert.equal(more.length, 0);
  assert.ok(shown.tag.includes(item.id), shown.tag);
  assert.equal(shown.body, "Choose a store\n“Which store?”");
  await world.must("answer", "t-1", "the answer is 42");
  await until("it is taken back", async () => (await notified(page)).length === 0);
});
