// Acts: each as a person does it on the page, and what becomes of it in the repository.
import assert from "node:assert/strict";
import { PHONE, scenario } from "../harness.mjs";
import { button, dialog, palette, press, refusal, row, visit } from "../ui.mjs";
import { until } from "../wait.mjs";
import { BUSY, DONE } from "../world.mjs";

const TOUCHES = 'work crew.toml "$(cat crew.toml; echo \\# more)"\necho DONE\n';

scenario("(5) what changes sensitive paths is approved, and lands", async scene => {
  const world = await scene.world({}, { engine: true });
  world.ticket("t-1", { title: "Change the settings", script: TOUCHES });
  const item = await world.item("t-1", "paths");
  const page = await scene.device(world, { size: PHONE });
  await visit(page, world, `inbox/${item.id}`);
  await press(button(page, /^Approve/));
  // It says what is approved: the paths, and the tip.
  await dialog(page).getByText("crew.toml").first().waitFor();
  const tip = item.why.match(/--tip ([0-9a-f]{7,})/)[1];
  await dialog(page).getByText(tip).first().waitFor();
  await dialog(page).getByRole("button", { name: /^Approve/ }).click();
  await world.landed("t-1");
  await page.getByText("This waits no more").first().waitFor();
  assert.equal(await button(page, /^Approve/).count(), 0);
});

scenario("(5) work that has changed under the hand is not approved", async scene => {
  const world = await scene.world({}, { engine: true });
  world.ticket("t-1", { title: "Change the settings", script: TOUCHES });
  const item = await world.item("t-1", "paths");
  const page = await scene.device(world);
  await visit(page, world, `inbox/${item.id}`);
  await press(button(page, /^Approve/));
  await dialog(page).waitFor();
  // Meanwhile another person sends it back, and its agent makes it anew.
  await world.must("reject", "t-1", "do it otherwise");
  await until("there is other work", async () => (await world.item("t-1", "paths")).id !== item.id);
  const now = await world.item("t-1", "paths");
  const yes = dialog(page).getByRole("button", { name: /^Approve/ });
  if ((await yes.count()) > 0) await yes.click();
  // It says why not, in words; the new work waits as it did.
  await page.getByText("This waits no more").or(refusal(page)).first().waitFor();
  assert.equal((await world.item("t-1", "paths")).id, now.id);
  assert.equal((await world.rows()).filter(one => one.kind === "approved").length, 0);
});

scenario("(6) a ticket that is held is tried again", async scene => {
  const world = await scene.world({}, { engine: true });
  world.ticket("t-1", { title: "Lacks something", script: "echo 'BLOCKED: there is no key'\n" });
  const item = await world.item("t-1", "blocked");
  const page = await scene.device(world, { size: PHONE });
  await visit(page, world, `inbox/${item.id}`);
  await page.getByText("there is no key").first().waitFor();
  world.script("t-1", DONE);
  await press(button(page, /^Retry/));
  await world.landed("t-1");
  await visit(page, world, "inbox");
  await page.getByText("Nothing waits for you").first().waitFor();
});

scenario("(7) an agent is killed, a ticket is dropped, agents are spawned, the engine is stopped", async scene => {
  const world = await scene.world({ agents: 'names = ["ada"]' }, { engine: true });
  world.ticket("t-1", { title: "Takes long", script: BUSY });
  await until("ada is at work", async () => (await world.json("ps")).agents.some(one => one.state === "working"));
  const page = await scene.device(world);
  // Kill: says what it does, and its ticket is held.
  await visit(page, world, "a/ada");
  await press(button(page, /^Kill/));
  await dialog(page).getByText(/kept/).first().waitFor();
  await dialog(page).getByRole("button", { name: /^Kill/ }).click();
  await world.item("t-1", "killed");
  // Drop: asks for a reason.
  await visit(page, world, "t/t-1");
  await press(button(page, /^Drop/));
  await dialog(page).getByRole("textbox").fill("nobody wants it");
  await dialog(page).getByRole("button", { name: /^Drop/ }).click();
  await world.settled("t-1");
  // Spawn.
  await visit(page, world, "agents");
  await press(page.getByRole("button", { name: /^Spawn/ }));
  await dialog(page).getByRole("textbox").fill("zoe");
  await dialog(page).getByRole("button", { name: /^Spawn/ }).click();
  await row(page, "zoe").waitFor();
  assert.deepEqual((await world.json("ps")).agents.map(one => one.name).sort(), ["ada", "zoe"]);
  // Stop: a choice, and the engine ends.
  await palette(page, "stop the engine");
  await dialog(page).getByRole("radio").first().waitFor();
  await dialog(page).getByRole("button", { name: /^Stop/ }).click();
  await world.theEngine.ended;
  await page.getByText("no engine").first().waitFor();
});

scenario("(8) where no engine runs, an act is carried out here", async scene => {
  const world = await scene.world({}, { engine: true });
  world.ticket("t-1", { title: "Lacks something", script: "echo 'BLOCKED: there is no key'\n" });
  const item = await world.item("t-1", "blocked");
  await world.must("stop", "--wait");
  await world.theEngine.ended;
  const page = await scene.device(world);
  await visit(page, world, `inbox/${item.id}`);
  await page.getByText(/crew run/).first().waitFor();
  await page.getByText(/carried out/).first().waitFor();
  await press(button(page, /^Retry/));
  await world.settled("t-1");
  await visit(page, world, "tickets");
  await row(page, "t-1").getByText(/ready/i).first().waitFor();
});
