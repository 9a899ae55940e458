// Pictures of every page at three widths in both themes, for a person to look at; and the one of the README.
import { copyFileSync, mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DESK, PHONE, Scene, TABLET, closeBrowser, root } from "./harness.mjs";
import { SETTINGS, enrich, pages } from "./rich.mjs";
import { live, settledDown } from "./ui.mjs";

const FOLDER = join(root, "target/web-pictures");
const README = join(root, "docs/web.png");
/** The most bytes of the picture that is committed. */
const MOST = 200_000;

const scene = new Scene("pictures");
try {
  const world = await scene.world(SETTINGS);
  const items = await enrich(world);
  rmSync(FOLDER, { recursive: true, force: true });
  let count = 0;
  for (const theme of ["light", "dark"]) {
    for (const size of [PHONE, TABLET, DESK]) {
      const page = await scene.device(world, { size, theme });
      const folder = join(FOLDER, `${size.width}-${theme}`);
      mkdirSync(folder, { recursive: true });
      for (const [name, path] of await pages(world, items)) {
        await page.goto(new URL(path, world.at()).href);
        await live(page);
        await settledDown(page);
        await page.screenshot({ path: join(folder, `${name}.png`) });
        count += 1;
      }
      await page.context().close();
    }
  }
  copyFileSync(join(FOLDER, "1440-light/question.png"), README);
  const { size } = statSync(README);
  if (size > MOST) throw new Error(`docs/web.png has ${size} bytes, more than ${MOST}`);
  console.log(`${count} pictures are in ${FOLDER}, and docs/web.png has ${size} bytes`);
  scene.assertWell();
} finally {
  await scene.close({ failed: false });
  await closeBrowser();
}
