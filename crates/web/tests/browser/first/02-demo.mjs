// The demonstration, followed on a phone from its first row to its last landing.
import assert from "node:assert/strict";
import { PHONE, scenario } from "../harness.mjs";
import { answer, live } from "../ui.mjs";
import { until } from "../wait.mjs";

/** The states that a ticket of the demonstration is seen in, in the order of its life. */
const STATES = [/^ready/, /^waits/, /^working/, /^asks/, /^in the train/, /^checking/, /^reviewing|^in review/, /landing|merging/];

scenario("(2) the demo is watched on a phone from its first row to its last landing, and its question answered there", async scene => {
  const world = await scene.world({ bare: true }, { web: false });
  const demo = world.start(["demo", "--web"], { cwd: world.folder });
  const link = await until("the demo prints its link", () => {
    if (demo.code !== undefined) throw new Error(`crew demo --web ended with ${demo.code}: ${demo.out}${demo.err}`);
    return demo.out.match(/http:\/\/127\.0\.0\.1:\d+\/pair#\S+/)?.[0];
  });
  demo.url = `${new URL(link).origin}/`;
  const page = await scene.device(null, { size: PHONE });
  // Every state that a ticket is shown in, from now on.
  await page.addInitScript(() => {
    globalThis.states = [];
    const look = () => {
      for (const word of document.querySelectorAll("main .state .word")) {
        const text = word.textContent.trim();
        if (text && !globalThis.states.includes(text)) globalThis.states.push(text);
      }
    };
    new MutationObserver(look).observe(document, { childList: true, subtree: true, characterData: true });
  });
  await page.goto(link);
  await live(page);
  const bar = name => page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name });
  await bar(/^Tickets/).click();
  await page.locator('[data-row="t-1"]').waitFor();
  // Its question: the number on the inbox says so, and it is answered here.
  await bar(/^Inbox\D*[1-9]/).waitFor();
  await bar(/^Inbox/).click();
  await page.getByRole("link", { name: "Say which version this is" }).first().click();
  await page.getByText("0.9 or 1.0").first().waitFor();
  await answer(page, "Call it 1.0");
  await page.getByText("This waits no more").first().waitFor();
  await bar(/^Tickets/).click();
  await until("no ticket is left", async () => (await page.locator("main [data-row]").count()) === 0, 120_000);
  const states = await page.evaluate(() => globalThis.states);
  console.log(`states seen: ${states.join(", ")}`);
  for (const state of STATES) assert.ok(states.some(one => state.test(one)), `${state} was not seen, but ${states.join(", ")}`);
  await bar(/^Train/).click();
  for (const id of ["t-1", "t-2", "t-3", "t-4", "t-5", "t-6", "t-7", "t-8"]) await page.locator("main").getByText(id, { exact: true }).first().waitFor();
}, { deadline: 180_000 });
