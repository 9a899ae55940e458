// Every page at three widths in both themes, in each state that a whole page may be in: axe finds nothing, and nothing
// is cut off.
import assert from "node:assert/strict";
import { DESK, PHONE, TABLET, axe, scenario } from "../harness.mjs";
import { SETTINGS, enrich, pages } from "../rich.mjs";
import { assertFits, live, settledDown, stale } from "../ui.mjs";

/** What is wrong with the pages of a world at every width in both themes. */
const look = async (scene, world, addresses, state, arrived = live) => {
  const found = [];
  for (const theme of ["light", "dark"]) {
    for (const size of [PHONE, TABLET, DESK]) {
      const page = await scene.device(world, { size, theme });
      for (const [name, path] of addresses) {
        const what = `${name}, ${state}, ${size.width} px, ${theme}`;
        await page.goto(new URL(path, world.at()).href);
        await arrived(page);
        await settledDown(page);
        for (const check of [() => axe(page, what), () => assertFits(page, what)]) {
          await check().catch(error => found.push(`${what}: ${error.message}`));
        }
      }
      await page.context().close();
    }
  }
  assert.equal(found.join("\n"), "");
};

const EMPTY = [["now", ""], ["inbox", "inbox"], ["tickets", "tickets"], ["agents", "agents"], ["train", "train"], ["cost", "cost"], ["events", "events"], ["health", "health"], ["device", "../../device"]];
const HOUR = { deadline: 3_600_000 };

scenario("(matrix) with something of everything", async scene => {
  const world = await scene.world(SETTINGS);
  const items = await enrich(world);
  await look(scene, world, await pages(world, items), "rich");
}, HOUR);

scenario("(matrix) with nothing at all, and no engine", async scene => {
  await look(scene, await scene.world(), EMPTY, "empty");
}, HOUR);

scenario("(matrix) as it was left, with no engine", async scene => {
  const world = await scene.world(SETTINGS);
  const items = await enrich(world);
  const addresses = await pages(world, items);
  await world.theEngine.kill("SIGKILL");
  await look(scene, world, addresses, "no engine");
}, HOUR);

scenario("(matrix) while the server is gone", async scene => {
  const world = await scene.world(SETTINGS);
  const items = await enrich(world);
  const found = [];
  for (const theme of ["light", "dark"]) {
    for (const size of [PHONE, TABLET, DESK]) {
      const page = await scene.device(world, { size, theme });
      for (const [name, path] of [["inbox", "inbox"], ["question", `inbox/${items.question.id}`], ["tickets", "tickets"], ["agents", "agents"]]) {
        const what = `${name}, stale, ${size.width} px, ${theme}`;
        await page.goto(new URL(path, world.at()).href);
        await live(page);
        // All that the page is made of is there, its style too, before the server goes.
        await settledDown(page);
        await world.theWeb.kill("SIGKILL");
        await stale(page);
        await page.getByText(/as of/).first().waitFor();
        for (const check of [() => axe(page, what), () => assertFits(page, what)]) await check().catch(error => found.push(`${what}: ${error.message}`));
        await world.web({ port: world.theWeb.port });
        await live(page);
      }
      await page.context().close();
    }
  }
  assert.equal(found.join("\n"), "");
}, HOUR);

scenario("(matrix) what is not paired", async scene => {
  const world = await scene.world();
  const found = [];
  for (const theme of ["light", "dark"]) {
    for (const size of [PHONE, TABLET, DESK]) {
      const page = await scene.device(world, { pair: false, size, theme });
      for (const path of ["pair", "r/project/inbox"]) {
        await page.goto(`${world.theWeb.url}${path}`);
        await page.locator("h1").first().waitFor();
        const what = `${path}, not paired, ${size.width} px, ${theme}`;
        for (const check of [() => axe(page, what), () => assertFits(page, what)]) await check().catch(error => found.push(`${what}: ${error.message}`));
      }
    }
  }
  assert.equal(found.join("\n"), "");
}, HOUR);
