// Keys: the palette, those of one letter, and when they rest.
import assert from "node:assert/strict";
import { PHONE, scenario } from "../harness.mjs";
import { button, dialog, press, row, settledDown, visit } from "../ui.mjs";
import { until } from "../wait.mjs";
import { ASKS, DONE } from "../world.mjs";

scenario("(21) the palette goes anywhere, and keys rest where a person types or has switched them off", async scene => {
  const world = await scene.world();
  world.ticket("t-1", { title: "Count the words" });
  world.ticket("t-2", { title: "Trim the blanks" });
  const page = await scene.device(world);
  const at = path => until(`the address is ${path}`, () => new URL(page.url()).pathname.endsWith(path));
  await visit(page, world, "tickets");
  await page.keyboard.press("Control+k");
  await dialog(page).waitFor();
  await page.keyboard.type("t-2");
  await page.keyboard.press("Enter");
  await at("/t/t-2");
  await page.keyboard.press("Control+k");
  await dialog(page).waitFor();
  await page.keyboard.type("health");
  await page.keyboard.press("Enter");
  await at("/health");
  for (const [keys, path] of [["gi", "/inbox"], ["gt", "/tickets"], ["ga", "/agents"], ["gb", null], ["gl", "/train"]]) {
    if (!path) continue;
    await page.keyboard.press(keys[0]);
    await page.keyboard.press(keys[1]);
    await at(path);
  }
  await page.keyboard.press("?");
  await dialog(page).getByText(/keys/i).first().waitFor();
  await page.keyboard.press("Escape");
  await dialog(page).waitFor({ state: "detached" });
  // In a field they are letters.
  await visit(page, world, "tickets");
  await page.keyboard.press("/");
  const filter = page.getByRole("searchbox").or(page.getByRole("textbox", { name: /filter/i })).first();
  await until("the filter has the focus", async () => await filter.evaluate(one => one === document.activeElement));
  await page.keyboard.type("gi");
  assert.equal(await filter.inputValue(), "gi");
  assert.match(page.url(), /\/tickets/);
  // Nor do they fire for what an input method composes.
  await page.keyboard.press("Escape");
  await visit(page, world, "tickets");
  await page.evaluate(() => {
    for (const key of ["g", "i"]) {
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, isComposing: true, keyCode: 229 }));
    }
  });
  assert.match(page.url(), /\/tickets$/);
  // Switched off, they are off, and the palette is not.
  await page.goto(`${world.theWeb.url}device`);
  await page.getByRole("checkbox", { name: /keys/i }).first().uncheck();
  await visit(page, world, "tickets");
  await page.keyboard.press("g");
  await page.keyboard.press("i");
  await page.keyboard.press("Control+k");
  await dialog(page).waitFor();
  assert.match(page.url(), /\/tickets$/);
});

scenario("(21) keys that act are about the row that has the focus", async scene => {
  const world = await scene.world({ agents: "count = 2" }, { engine: true });
  world.ticket("t-1", { title: "Choose a store", script: ASKS("Which store?") });
  world.ticket("t-2", { title: "Choose a shelf", script: ASKS("Which shelf?") });
  const items = { [(await world.item("t-1", "question")).id]: "Which store?", [(await world.item("t-2", "question")).id]: "Which shelf?" };
  const page = await scene.device(world);
  await visit(page, world, "inbox");
  const card = page.getByRole("region", { name: "The chosen item" });
  await card.getByText(/^Which/).first().waitFor();
  /** The row with the focus, where it is the item that is shown. */
  const focused = async () => {
    const id = await page.evaluate(() => document.activeElement?.closest("[data-row]")?.getAttribute("data-row"));
    return (await card.getByText(items[id], { exact: true }).count()) > 0 && id;
  };
  await page.locator("[data-row]").first().getByRole("link").focus();
  const first = await until("the first row is shown", focused);
  await page.keyboard.press("j");
  await until("the next row is shown", async () => ![false, first].includes(await focused()));
  // What goes along the items takes the focus of the list with it.
  await page.keyboard.press("[");
  await until("the first row is shown again", async () => (await focused()) === first);
});

scenario("(21) while entries are chosen, the key of an act is about all of them or about none", async scene => {
  const world = await scene.world({ agents: "count = 3" }, { engine: true });
  for (const id of ["t-1", "t-2"]) world.ticket(id, { title: `Lacks something, ${id}`, script: "echo 'BLOCKED: there is no key'\n" });
  world.ticket("t-3", { title: "Choose a store", script: ASKS("Which store?") });
  const first = await world.item("t-1", "blocked");
  const [second, question] = [await world.item("t-2", "blocked"), await world.item("t-3", "question")];
  const page = await scene.device(world);
  await visit(page, world, "inbox");
  await settledDown(page);
  const chosen = page.getByRole("region", { name: "Chosen items" });
  /** Goes to an item, and chooses it. */
  const choose = async item => {
    await row(page, item.id).getByRole("link").focus();
    await until("it is shown", () => decodeURIComponent(page.url()).endsWith(item.id));
    await page.keyboard.press("x");
    await until("it is chosen", () => row(page, item.id).getByRole("checkbox").isChecked());
  };
  for (const item of [first, question]) await choose(item);
  await chosen.getByText("2 chosen").waitFor();
  // The card that is shown is a question's, which the others have not: no key of its acts is about it alone.
  await button(page, /^Answer/).first().waitFor();
  await page.keyboard.press("a");
  await page.locator(".toast.wrong", { hasText: "Answer is not for all of them at once: open each." }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.tagName), "A", "nothing is typed into");
  await page.keyboard.press("r");
  await page.locator(".toast.wrong", { hasText: "Retry is not for all of them at once: open each." }).waitFor();
  assert.equal((await world.rows()).filter(one => one.kind === "retried").length, 0);
  // Of what all have, the key asks about all.
  await page.keyboard.press("x");
  await choose(second);
  await chosen.getByText("2 chosen").waitFor();
  for (const id of ["t-1", "t-2"]) world.script(id, DONE);
  await press(chosen.getByRole("button", { name: /^Retry/ }));
  await dialog(page).getByText("Retry 2 items?").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("r");
  await dialog(page).getByText("Retry 2 items?").waitFor();
  await page.keyboard.press("Enter");
  for (const id of ["t-1", "t-2"]) await world.landed(id);
  // Once none is chosen, keys are about what is shown again.
  await row(page, question.id).getByRole("link").focus();
  await until("the answer is typed into", async () => {
    await page.keyboard.press("a");
    return await page.evaluate(() => document.activeElement?.tagName === "TEXTAREA");
  });
});

scenario("(21) a name that is typed for a new agent takes the place of the number", async scene => {
  const world = await scene.world({}, { engine: true });
  const page = await scene.device(world);
  await visit(page, world, "agents");
  await press(button(page, /^Spawn/));
  await dialog(page).getByRole("textbox").waitFor();
  await page.keyboard.type("zoe");
  assert.equal(await dialog(page).getByRole("textbox").inputValue(), "zoe");
});

scenario("(21) on a phone everything that keys lead to is reached without them", async scene => {
  const world = await scene.world({}, { engine: true });
  world.ticket("t-1", { title: "Choose a store", script: ASKS("Which store?") });
  await world.item("t-1", "question");
  const page = await scene.device(world, { size: PHONE });
  await visit(page, world, "");
  const more = page.getByRole("navigation").getByRole("button", { name: "More" });
  await more.click();
  await dialog(page).getByRole("button", { name: "Search" }).click();
  await dialog(page).getByRole("combobox").fill("t-1");
  await dialog(page).getByRole("option", { name: "Choose a store" }).click();
  await until("the ticket is shown", () => page.url().endsWith("/t/t-1"));
  await more.click();
  await dialog(page).getByRole("button", { name: "Stop the engine…" }).click();
  await dialog(page).getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByText("no engine").first().waitFor();
  // Where none runs there is none to stop.
  await more.click();
  await dialog(page).getByRole("button", { name: "Search" }).waitFor();
  assert.equal(await dialog(page).getByRole("button", { name: /^Stop/ }).count(), 0);
});
