// Devices: one whose token is taken back while it follows, and one that may only look.
import assert from "node:assert/strict";
import { PHONE, scenario } from "../harness.mjs";
import { button, live, visit } from "../ui.mjs";
import { ASKS } from "../world.mjs";

scenario("(24) a device that is revoked while it follows shows nothing more", async scene => {
  const world = await scene.world();
  const page = await scene.device(world);
  await visit(page, world, "tickets");
  const { devices } = await world.json("web", "devices");
  assert.equal(devices.length, 1);
  await world.must("web", "revoke", devices[0].id);
  // It is told, without being touched, and says what pairs it again.
  await page.getByText("crew web pair").first().waitFor();
  world.ticket("t-1", { title: "Not for this device" });
  await world.must("web", "pair");
  assert.equal(await page.getByText("Not for this device").count(), 0);
});

scenario("(25) a device that may look is offered no act, and is refused each", async scene => {
  const world = await scene.world({}, { engine: true });
  world.ticket("t-1", { title: "Choose a store", script: ASKS("Which store?") });
  const item = await world.item("t-1", "question");
  const page = await scene.device(world, { look: true, size: PHONE });
  await visit(page, world, `inbox/${item.id}`);
  await page.getByText("Which store?").first().waitFor();
  assert.equal(await page.locator("main textarea").count(), 0, "a field to answer in is shown");
  for (const name of [/^Answer/, /^Kill/, /^Drop/]) assert.equal(await button(page, name).count(), 0, `${name} is shown`);
  for (const path of ["", "agents", "t/t-1", "train"]) {
    await visit(page, world, path);
    for (const name of [/^Answer/, /^Kill/, /^Drop/, /^Spawn/, /^Stop/]) {
      assert.equal(await page.getByRole("button", { name }).count(), 0, `${name} is shown on ${path}`);
    }
  }
  // What the page does not offer, the server refuses.
  const before = (await world.rows()).length;
  const statuses = await page.evaluate(
    async ([repo, id]) => {
      const root = document.querySelector('meta[name="crew-root"]').content;
      const token = Object.values(localStorage).find(value => value.length > 40 && !value.startsWith("{"));
      const ask = async (method, path, body) => {
        const answer = await fetch(new URL(`${root}api/v1/${path}`, location.href), {
          method,
          body: body && JSON.stringify(body),
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        });
        return answer.status;
      };
      const uuid = "0197a000-0000-7000-8000-00000000000";
      return {
        view: await ask("GET", `r/${repo}/view`),
        act: await ask("PUT", `r/${repo}/inbox/${encodeURIComponent(id)}/acts/${uuid}1`, { verb: "answer", text: "x" }),
        command: await ask("PUT", `r/${repo}/commands/${uuid}2`, { command: { command: "spawn", count: 1 } }),
        revoke: await ask("DELETE", "devices/anything"),
      };
    },
    [world.name, item.id],
  );
  assert.deepEqual(statuses, { view: 200, act: 403, command: 403, revoke: 403 });
  assert.equal((await world.rows()).length, before);
  await live(page);
});
