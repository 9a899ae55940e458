// A question is answered on one page, and the others show it go.
import assert from "node:assert/strict";
import { PHONE, scenario } from "../harness.mjs";
import { answer, button, dialog, press, refusal, row, visit } from "../ui.mjs";
import { until } from "../wait.mjs";
import { ASKS } from "../world.mjs";

scenario("(3) a question is answered on the phone, and the desk shows it go", async scene => {
  const world = await scene.world({}, { engine: true });
  world.ticket("t-1", { title: "Choose a store", script: ASKS("Which store?") });
  await world.item("t-1", "question");
  const desk = await scene.device(world);
  const phone = await scene.device(world, { size: PHONE });
  await visit(desk, world, "inbox");
  await desk.getByText("Which store?").first().waitFor();
  await visit(phone, world, "inbox");
  await phone.getByRole("link", { name: "Choose a store" }).first().click();
  await phone.getByText("Which store?").first().waitFor();
  await answer(phone, "the answer is a signed cookie");
  await world.landed("t-1");
  // What was looked at says that it waits no more; the list has nothing of it.
  await desk.getByText("This waits no more").first().waitFor();
  await desk.getByText("Nothing waits for you").first().waitFor();
  assert.equal(await button(desk, /^Answer/).count(), 0);
  const answered = (await world.rows()).filter(one => one.kind === "answered");
  assert.equal(answered.length, 1);
});

scenario("(4) a question that two answer at once: the second is told what is so now", async scene => {
  const world = await scene.world({}, { engine: true });
  world.ticket("t-1", { title: "Choose a store", script: ASKS("Which store?") });
  const item = await world.item("t-1", "question");
  const one = await scene.device(world);
  const other = await scene.device(world, { size: PHONE });
  for (const page of [one, other]) await visit(page, world, `inbox/${item.id}`);
  // The other one hears nothing more, as on a train in a tunnel, and sends what was typed when it is out again.
  await other.getByRole("textbox", { name: /answer/i }).first().fill("the answer is a database");
  let release;
  const held = new Promise(resolve => (release = resolve));
  await other.route("**/acts/**", async route => {
    await held;
    await route.continue();
  });
  await press(button(other, /^Answer/));
  await answer(one, "the answer is a signed cookie");
  await world.landed("t-1");
  release();
  // It says so where it was pressed, and what was typed is kept.
  await other.getByText("This waits no more").first().waitFor();
  await refusal(other).waitFor();
  assert.equal(await other.getByRole("textbox", { name: /answer/i }).first().inputValue(), "the answer is a database");
  const answered = (await world.rows()).filter(row => row.kind === "answered");
  assert.equal(answered.length, 1, JSON.stringify(answered));
});

scenario("(3) what is snoozed counts on this device no more, until it changes or the snooze is ended, and goes on waiting", async scene => {
  const world = await scene.world({}, { engine: true });
  world.ticket("t-1", { title: "Choose a store", script: ASKS("Which store?") });
  const item = await world.item("t-1", "question");
  const phone = await scene.device(world, { size: PHONE });
  const other = await scene.tab(phone.context());
  const desk = await scene.device(world);
  for (const page of [phone, other, desk]) await visit(page, world, `inbox/${item.id}`);
  const counts = (page, is) => until(`it ${is ? "counts" : "does not count"}`, async () => (await page.title()).startsWith("(1)") === is);
  const snooze = async until_ => {
    await press(button(phone, "Snooze…"));
    await press(dialog(phone).getByRole("button", { name: until_ }));
  };
  await counts(phone, true);
  await snooze("for an hour");
  await phone.getByText("Snoozed on this device until").waitFor();
  await counts(phone, false);
  // The other tab of this browser knows; another device does not; the item can be answered as before.
  await counts(other, false);
  await counts(desk, true);
  await button(phone, /^Answer/).waitFor();
  await visit(phone, world, "inbox");
  await row(phone, item.id).getByText("snoozed").waitFor();
  // Neither does a page that is opened anew count it; once that is ended, it counts.
  await visit(phone, world, `inbox/${item.id}`);
  await counts(phone, false);
  await press(button(phone, "End the snooze"));
  await counts(phone, true);
  await counts(other, true);
  // It asks something else: that was not put off.
  await snooze("until it changes");
  await counts(phone, false);
  world.script("t-1", "echo 'QUESTION: Which store, then?'\n");
  await answer(desk, "the answer is unclear");
  const next = await until("it asks again", async () => {
    const { items } = await world.json("inbox");
    return items.find(one => JSON.stringify(one).includes("then?"));
  });
  await counts(phone, true);
  await visit(phone, world, `inbox/${next.id}`);
  await button(phone, "Snooze…").waitFor();
});
