// crew's web page in a browser: every scenario, in one process with one browser.
//
//   node --test-reporter=spec main.mjs       with CREW naming the program, and CREW_DEEP for the deep tier too
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { closeBrowser, play, scenarios } from "./harness.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const folders = ["first", ...(process.env.CREW_DEEP ? ["deep"] : [])];
for (const folder of folders) {
  for (const file of readdirSync(join(here, folder)).sort()) {
    if (file.endsWith(".mjs")) await import(join(here, folder, file));
  }
}

/** As many as there are cores: three together took longer than one after the other. */
const AT_ONCE = Number(process.env.CREW_AT_ONCE ?? 2);

describe("the web page in a browser", { concurrency: AT_ONCE }, () => {
  after(closeBrowser);
  for (const scenario of scenarios) {
    test(scenario.name, { skip: scenario.waits !== null && !process.env.CREW_WAITS }, async () => {
      try {
        await play(scenario);
      } catch (error) {
        // Where nobody watches, what failed is run once more, and named.
        if (!process.env.CI) throw error;
        console.log(`flaky? ${scenario.name} failed, and is run once more: ${error.stack}`);
        await play(scenario);
        console.log(`FLAKY: ${scenario.name} failed, then passed; this is a fault of the test or of crew`);
      }
    });
  }
});
