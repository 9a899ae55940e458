// Pairing a browser: by a link, which is good once, for ten minutes.
import assert from "node:assert/strict";
import { PHONE, scenario } from "../harness.mjs";
import { live } from "../ui.mjs";
import { until } from "../wait.mjs";

scenario("(1) a link pairs one browser, once", async scene => {
  const world = await scene.world();
  const link = world.theWeb.pair;
  assert.match(link, /\/pair#/);
  const first = await scene.device(world, { pair: false, size: PHONE });
  await first.goto(link);
  await live(first);
  // The code is sent once, and to be found nowhere any more.
  const sent = first.watched.requests.filter(request => request.method() === "POST" && request.url().endsWith("/api/v1/pair"));
  assert.equal(sent.length, 1);
  const code = new URL(link).hash.slice(1);
  assert.equal(first.url().includes(code), false);
  await first.goBack().catch(() => {});
  assert.equal(first.url().includes(code), false);
  for (const request of first.watched.requests) assert.equal(request.url().includes(code), false, request.url());
  await first.goto(world.at());
  await live(first);
  // It is no secret of a cookie's.
  assert.deepEqual(await first.context().cookies(), []);
  // Another browser with the same link is told why not, and what helps.
  const second = await scene.device(world, { pair: false });
  await second.goto(link);
  await second.getByRole("alert").waitFor();
  await second.getByText("crew web pair").first().waitFor();
  assert.equal((await world.json("web", "devices")).devices.length, 1);
  // It pairs by hand with a new one.
  await second.getByLabel(/link, or its code/i).fill(await world.link("--name", "a desk"));
  await second.getByRole("button", { name: "Pair", exact: true }).click();
  await live(second);
  assert.equal((await world.json("web", "devices")).devices.length, 2);
});

scenario("(1) a browser that keeps nothing is paired for as long as the page is there, and says so", async scene => {
  const world = await scene.world();
  const page = await scene.device(world, { pair: false });
  await page.addInitScript(() =>
    Object.defineProperty(globalThis, "localStorage", {
      get: () => {
        throw new DOMException("Access is denied", "SecurityError");
      },
    }),
  );
  await page.goto(world.theWeb.pair);
  await live(page);
  const says = page.getByText("This browser keeps nothing: it is paired until this tab is closed or loaded anew.");
  await says.waitFor();
  await page.goto(world.at());
  await page.getByRole("heading", { name: "Pair this browser" }).waitFor();
  assert.equal(await says.count(), 0);
});

scenario("(1) a code that is unknown, and one that is too old, pair nobody", async scene => {
  const world = await scene.world();
  const page = await scene.device(world, { pair: false });
  await page.goto(`${world.theWeb.url}pair#${"A".repeat(26)}`);
  await page.getByRole("alert").waitFor();
  const unknown = await page.getByRole("alert").innerText();
  // A page that is not paired shows nothing of the repository, wherever it is opened.
  await page.goto(world.at("tickets"));
  await page.getByText("crew web pair").first().waitFor();
  assert.equal((await page.locator("body").innerText()).includes(world.name), false);
  // Of a code that is too old the file says so: nobody waits ten minutes here.
  const link = await world.link();
  world.ageCodes();
  await page.goto(link);
  await page.getByRole("alert").waitFor();
  assert.notEqual(unknown, "");
  assert.equal((await world.json("web", "devices")).devices.length, 0);
  await until("no code is left in the address", async () => !page.url().includes("#"));
});
