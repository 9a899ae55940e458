// Several tabs of one browser: they share one stream, and go on when the tab that reads it is closed.
import assert from "node:assert/strict";
import { scenario } from "../harness.mjs";
import { live, row, visit } from "../ui.mjs";
import { until } from "../wait.mjs";

scenario("(12) eight tabs share one stream, and go on when the one that reads it is closed", async scene => {
  const world = await scene.world();
  await world.pairProgram();
  const streams = async () => (await world.api(`r/${world.name}/health`)).json.streams;
  const first = await scene.device(world);
  const tabs = [first];
  await visit(first, world, "tickets");
  for (let n = 1; n < 8; n += 1) {
    const tab = await scene.tab(first.context());
    await visit(tab, world, "tickets");
    tabs.push(tab);
  }
  await until("one stream is open", async () => (await streams()) === 1);
  world.ticket("t-1", { title: "Seen in every tab" });
  for (const tab of tabs) await row(tab, "t-1").waitFor();
  assert.equal(await streams(), 1);
  await first.close();
  const rest = tabs.slice(1);
  await until("another tab reads the stream", async () => (await streams()) === 1);
  world.ticket("t-2", { title: "Seen in the other seven" });
  for (const tab of rest) {
    await row(tab, "t-2").waitFor();
    await live(tab);
  }
  assert.equal(await streams(), 1);
});
