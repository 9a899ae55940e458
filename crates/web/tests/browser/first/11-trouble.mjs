// What crew reads cannot be read: the page says what, and goes on with what it can.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { scenario } from "../harness.mjs";
import { row, visit } from "../ui.mjs";

scenario("(11) settings and tickets that cannot be read, and a journal that is deleted, are said", async scene => {
  const world = await scene.world();
  world.ticket("t-1", { title: "A ticket" });
  await world.must("spawn", "zoe");
  const page = await scene.device(world);
  await visit(page, world, "tickets");
  await row(page, "t-1").waitFor();
  const settings = world.read("crew.toml");
  world.write("crew.toml", `${settings}\n[nonsense]\nx = 1\n`);
  const bars = page.getByRole("region", { name: "State" });
  await bars.getByText(/crew\.toml cannot be used/).waitFor();
  await bars.getByText(/nonsense/).waitFor();
  world.write("crew.toml", settings);
  await bars.getByText(/crew\.toml cannot be used/).waitFor({ state: "detached" });
  // A ticket that cannot be read hides no other.
  world.write(".tickets/t-2.md", "no front matter\n");
  await page.getByText("t-2.md").first().waitFor();
  assert.ok(await row(page, "t-1").isVisible());
  rmSync(world.project(".tickets/t-2.md"));
  await visit(page, world, "agents");
  await row(page, "zoe").waitFor();
  for (const file of ["journal.db", "journal.db-wal", "journal.db-shm"]) rmSync(world.project(".crew", file), { force: true });
  await bars.getByText(/was deleted/).waitFor();
  // Another one begins, and the page with it.
  await world.must("spawn", "bob");
  await row(page, "bob").waitFor();
  await row(page, "zoe").waitFor({ state: "detached" });
  await bars.getByText(/was deleted/).waitFor({ state: "detached" });
});
