// Output: its end is followed, what comes while a person reads stays below, and a large one is shown in parts.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { PHONE, axe, scenario } from "../harness.mjs";
import { enrich, SETTINGS } from "../rich.mjs";
import { assertFits, taken, visit } from "../ui.mjs";
import { until } from "../wait.mjs";

/** The folder of runs names them. */
const runOf = async (world, ticket) => {
  const found = await until(`${ticket} runs`, async () =>
    (await world.rows()).map(one => JSON.stringify(one)).join().match(new RegExp(`${ticket}\\.\\d+\\.\\d+`)));
  return found[0];
};

scenario("(19) the end of an output is followed until a person scrolls", async scene => {
  const world = await scene.world({}, { engine: true });
  const wait = n => `gate line-${n}\n`;
  const many = 'i=0; while [ $i -lt 200 ]; do i=$((i+1)); echo "early $i"; done\n';
  world.ticket("t-1", { script: `${many}${wait(1)}echo "after the first gate"\n${wait(2)}echo "after the second gate"\n${wait(3)}echo "after the third gate"\necho DONE\n` });
  const page = await scene.device(world);
  await visit(page, world, `t/t-1/output?run=${await runOf(world, "t-1")}`);
  await page.getByText("early 200", { exact: true }).waitFor();
  world.open("line-1");
  const first = page.getByText("after the first gate");
  await first.waitFor();
  await until("the end is in the window", async () => {
    const box = await first.boundingBox();
    return box && box.y + box.height <= page.viewportSize().height;
  });
  // A person scrolls up to read: nothing pulls the text away.
  await page.getByText("early 200", { exact: true }).hover();
  await page.mouse.wheel(0, -1200);
  const read = page.getByText("early 150", { exact: true });
  await read.scrollIntoViewIfNeeded();
  const before = await read.boundingBox();
  world.open("line-2");
  const fresh = page.getByRole("button", { name: /new line/ });
  await fresh.waitFor();
  assert.equal((await read.boundingBox()).y, before.y, "the text has moved while it is read");
  await fresh.click();
  await page.getByText("after the second gate").waitFor();
  world.open("line-3");
  await page.getByText("after the third gate").waitFor();
});

scenario("(19) of an output of 10 MB the end is shown, and any part is found", async scene => {
  const world = await scene.world({}, { engine: true });
  world.ticket("t-1", {
    script: 'awk \'BEGIN { for (i = 1; i <= 100000; i++) printf "%06d %s\\n", i, "a line of a log that goes on and on, as logs do, for about a hundred bytes of it all" }\'\ngate end\necho DONE\n',
  });
  const page = await scene.device(world);
  const run = await runOf(world, "t-1");
  await visit(page, world, `t/t-1/output?run=${run}`);
  await page.getByText(/^100000 a line/).first().waitFor();
  const { elements } = await taken(page);
  assert.ok(elements <= 3_000, `the page has ${elements} elements`);
  const bytes = await page.evaluate(() =>
    performance.getEntriesByType("resource").filter(one => one.name.includes("/output")).reduce((sum, one) => sum + one.decodedBodySize, 0));
  assert.ok(bytes < 2_000_000, `${bytes} bytes were asked for to show the end`);
  await page.keyboard.press("f");
  const find = page.getByRole("searchbox").or(page.getByRole("textbox", { name: /find/i })).first();
  await find.fill("000042 a line");
  await find.press("Enter");
  await page.getByText(/^000042 a line/).first().waitFor();
  // All of it is a file, and a download that breaks off is said.
  const raw = page.getByRole("button", { name: "Raw" });
  const [download] = await Promise.all([page.waitForEvent("download"), raw.click()]);
  const saved = readFileSync(await download.path(), "utf8").split("\n");
  assert.equal(saved.filter(line => /^\d{6} a line/.test(line)).length, 100_000);
  await page.route(/\/raw$/, route => route.abort());
  await raw.click();
  await page.getByText("Nothing answers at").first().waitFor();
  await page.unroute(/\/raw$/);
  // The line is lost in the middle: the head was there.
  await page.evaluate(() => {
    const real = globalThis.fetch;
    globalThis.fetch = async (...asked) => {
      const answer = await real(...asked);
      if (!String(asked[0]).endsWith("/raw")) return answer;
      return new Response(new ReadableStream({ start: body => body.error(new TypeError("network error")) }));
    };
  });
  await raw.click();
  await page.getByText("The answer broke off before its end").first().waitFor();
});

scenario("(19) the train says how long checks usually take, and shows what one prints", async scene => {
  const world = await scene.world(SETTINGS);
  await enrich(world);
  const page = await scene.device(world, { size: PHONE });
  await visit(page, world, "train");
  const line = page.getByRole("region", { name: "Lands next" });
  await line.getByText(/^checks usually take (less than )?\d+s$/).waitFor();
  await line.getByText("What its check prints").first().click();
  await line.getByText("test parse::leap ... ok").waitFor();
  await axe(page, "a check on the train");
  await assertFits(page, "a check on the train");
});
