// Keys: the palette, those of one letter, and when they rest.
import assert from "node:assert/strict";
import { scenario } from "../harness.mjs";
import { dialog, visit } from "../ui.mjs";
import { until } from "../wait.mjs";

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
