// Acts: each as a person does it on the page, and what becomes of it in the repository.
import assert from "node:assert/strict";
import { PHONE, scenario } from "../harness.mjs";
import { assertFits, button, dialog, palette, press, refusal, row, visit } from "../ui.mjs";
import { until } from "../wait.mjs";
import { BUSY, DONE } from "../world.mjs";

const TOUCHES = 'seq 1 1200 > a.txt\ngit add a.txt\nwork crew.toml "$(cat crew.toml; echo \\# "<b>more</b>")"\necho DONE\n';

scenario("(5) what changes sensitive paths is approved, and lands", async scene => {
  const world = await scene.world({}, { engine: true });
  world.ticket("t-1", { title: "Change the settings", script: TOUCHES });
  const item = await world.item("t-1", "paths");
  const page = await scene.device(world, { size: PHONE });
  await visit(page, world, `inbox/${item.id}`);
  // What is approved stands on the card: the path that asks for it first, also where the change is long.
  const change = page.getByRole("group", { name: "The change of t-1" });
  await change.getByText("+# <b>more</b>").waitFor();
  assert.match(await change.locator(".patch-line").first().innerText(), /^diff --git a\/crew\.toml/);
  await page.getByText("sensitive", { exact: true }).waitFor();
  await page.getByText(/^\d+ more lines/).waitFor();
  await assertFits(page, "a change");
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
  // Clean up: an agent without a ticket has nothing that could have changed but that.
  await visit(page, world, "a/zoe");
  await press(button(page, /^Clean up/));
  await dialog(page).getByRole("button", { name: /^Clean up/ }).click();
  await page.locator(".toast").getByText("zoe is idle").first().waitFor();
  await page.locator(".toast").getByText("crew reap zoe", { exact: true }).first().waitFor();
  // Stop: a choice, and the engine ends.
  await palette(page, "stop the engine");
  await dialog(page).getByRole("radio").first().waitFor();
  await dialog(page).getByRole("button", { name: /^Stop/ }).click();
  await world.theEngine.ended;
  await page.getByText("no engine").first().waitFor();
});

scenario("(7) an engine that is not stopped is said so, on whichever page it was asked", async scene => {
  const world = await scene.world({}, { engine: true });
  const page = await scene.device(world);
  await visit(page, world, "cost");
  await page.locator(".engine").getByText("engine").waitFor();
  const problem = { type: "refused", title: "Refused", status: 422, detail: "the engine does not stop now" };
  await page.route("**/commands/**", route => route.fulfill({ status: 422, contentType: "application/problem+json", body: JSON.stringify(problem) }));
  await palette(page, "stop the engine");
  await dialog(page).getByRole("button", { name: /^Stop/ }).click();
  await page.locator(".toast.wrong", { hasText: problem.detail }).waitFor();
});

scenario("(7) a ticket that was given up is opened again where it is waited for", async scene => {
  const world = await scene.world({}, { engine: true });
  world.ticket("t-1", { title: "Lacks something", script: "echo 'BLOCKED: there is no key'\n" });
  world.ticket("t-2", { title: "Waits for it", deps: ["t-1"] });
  await world.item("t-1", "blocked");
  world.script("t-1", DONE);
  await world.must("drop", "t-1");
  const item = await world.item("t-2", "dependency_failed");
  const page = await scene.device(world);
  await visit(page, world, `inbox/${item.id}`);
  await press(button(page, /^Reopen/));
  await dialog(page).getByText("crew ticket reopen t-1").first().waitFor();
  await dialog(page).getByRole("button", { name: /^Reopen/ }).click();
  for (const id of ["t-1", "t-2"]) await world.landed(id);
  assert.equal((await world.rows()).filter(one => one.kind === "reopened").length, 1);
});

scenario("(7) a ticket is given to an agent by hand, and none is offered that waits for others", async scene => {
  const world = await scene.world({ agents: 'names = ["ada"]' }, { engine: true });
  world.ticket("t-1", { title: "Lacks something", script: "echo 'BLOCKED: there is no key'\n" });
  world.ticket("t-2", { title: "Waits for it", deps: ["t-1"] });
  world.ticket("t-3", { title: "Somebody has taken it", status: "in_progress" });
  await world.item("t-1", "blocked");
  const page = await scene.device(world);
  await visit(page, world, "t/t-2");
  await button(page, /^Drop/).waitFor();
  await page.getByText("it waits for t-1").first().waitFor();
  assert.equal(await button(page, /^Assign/).count(), 0);
  await visit(page, world, "t/t-3");
  await button(page, /^Assign/).waitFor();
  await visit(page, world, "a/ada");
  await press(button(page, /^Assign/));
  assert.deepEqual(await dialog(page).getByRole("option").allInnerTexts(), ["t-3  Somebody has taken it"]);
  await dialog(page).getByRole("button", { name: "Assign", exact: true }).click();
  await until("its work has landed", async () => (await world.rows()).some(one => one.kind === "landed" && one.stream.endsWith("t-3")));
});

scenario("(7) a ticket is closed on its page and opened again, each once, and not when it has moved on", async scene => {
  const world = await scene.world();
  world.ticket("t-1", { title: "Nobody wants it" });
  const page = await scene.device(world);
  const file = () => world.read(".tickets/t-1.md");
  await visit(page, world, "t/t-1");
  await press(button(page, /^Close/));
  await dialog(page).getByRole("button", { name: /^Close/ }).click();
  await until("its file is closed", () => file().includes("\nstatus: closed\n"));
  // No engine has seen any of it: the file is all there is, and no page of it.
  await world.must("ticket", "reopen", "t-1");
  world.engine();
  await world.landed("t-1");
  await visit(page, world, "t/t-1");
  world.script("t-1", "echo 'BLOCKED: again'\n");
  await press(button(page, /^Reopen/));
  await dialog(page).getByRole("button", { name: /^Reopen/ }).click();
  const blocked = await world.item("t-1", "blocked");
  // A program that asks with what it saw before is told what is so now; one that asks again has asked once.
  await world.pairProgram();
  const put = (uuid, body) => world.api(`r/${world.name}/tickets/t-1/status/${uuid}`, { method: "PUT", body });
  const { seen } = (await world.api(`r/${world.name}/tickets/t-1`)).json.ticket;
  const [one, other] = ["0197a000-0000-7000-8000-000000000001", "0197a000-0000-7000-8000-000000000002"];
  const stale = await put(one, { status: "closed", seen: "1.1" });
  assert.equal(stale.json.state, "refused");
  assert.match(stale.json.message, /t-1 has moved on since you looked at it/);
  assert.equal((await put(one, { status: "closed", seen })).json.state, "refused", "an id is asked once");
  const wrong = await put("0197a000-0000-7000-8000-000000000003", { status: "open", seen });
  assert.match(wrong.json.message, /^t-1 is .* already$/);
  assert.equal((await world.item("t-1", "blocked")).id, blocked.id);
  const closed = await put(other, { status: "closed", seen });
  assert.equal(closed.json.state, "accepted", closed.text);
  assert.deepEqual((await put(other, { status: "closed", seen })).json, closed.json);
  await world.settled("t-1");
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
  // An engine that was stopped in good order is not missed, whatever commands did since.
  assert.equal(await page.getByText(/gone without a word/).count(), 0);
});

scenario("(5) what looks like secrets is named, never shown, and approved one by one", async scene => {
  const world = await scene.world({ agents: "count = 2" }, { engine: true });
  const [begin, end] = ["ghp_", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE4fG6"];
  for (const id of ["t-1", "t-2"]) world.ticket(id, { script: `work ${id}.rs "let token = \\"$(printf '%s%s' ${begin} ${end})\\";"\necho DONE\n` });
  const items = [await world.item("t-1", "secrets"), await world.item("t-2", "secrets")];
  const page = await scene.device(world);
  await visit(page, world, `inbox/${items[0].id}`);
  await page.locator(".change").getByText("t-1.rs:1 (github-pat").waitFor();
  assert.ok(!(await page.content()).includes(end));
  for (const item of items) await row(page, item.id).getByRole("checkbox").click();
  const chosen = page.getByRole("region", { name: "Chosen items" });
  await chosen.getByText("2 chosen").waitFor();
  assert.equal(await chosen.getByRole("button", { name: /^Approve/ }).count(), 0);
  await page.keyboard.press("p");
  await page.locator(".toast.wrong", { hasText: "Approve is not for all of them at once: open each." }).waitFor();
});
