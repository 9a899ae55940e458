// Text that means harm, as title, tag, text, question, output and commit: it is text on every page, and nothing else.
import assert from "node:assert/strict";
import { scenario } from "../harness.mjs";
import { CORPUS, HIDDEN, MARKUP } from "../hostile.mjs";
import { row, visit } from "../ui.mjs";
import { until } from "../wait.mjs";

/** A text as a word of sh: its bytes in octal, for printf. */
const octal = text => [...Buffer.from(text)].map(byte => `\\${byte.toString(8).padStart(3, "0")}`).join("");

/** What of a page is more than text, or would hide in it. */
const wrong = () => {
  const tags = ["script:not([src])", "iframe", "object", "embed", "math", "base", "form[action]", "img:not([src^='data:'])", "meta[http-equiv='refresh']"];
  const links = [...document.querySelectorAll("a[href]")].map(one => one.protocol).filter(one => !/^https?:$/.test(one));
  const handlers = [...document.querySelectorAll("*")].filter(one => [...one.attributes].some(({ name }) => name.startsWith("on")));
  return {
    elements: tags.filter(tag => document.querySelector(tag)),
    links,
    handlers: handlers.map(one => one.outerHTML.slice(0, 200)),
    pwned: "pwned" in globalThis,
    text: document.documentElement.innerText + document.title,
  };
};

scenario("(S12) text that means harm is text on every page", async scene => {
  const world = await scene.world({ agents: "count = 2" });
  assert.ok(CORPUS.length >= 60);
  const all = [...MARKUP, ...CORPUS.map(({ text }) => text)];
  // Of one line each: what a title may be.
  for (const [n, text] of all.entries()) {
    world.ticket(`h-${n}`, { title: `${n} ${text.replace(/[\n\r\u000b\u000c\u0085\u2028\u2029]/g, " ")}`, body: text, deps: ["t-0"] });
  }
  const said = octal(`${MARKUP.join(" ")} ${CORPUS.map(({ text }) => text.replace(/[\n\0]/g, " ")).join(" ")}`);
  const lines = octal(`${[...MARKUP, ...CORPUS.map(({ text }) => text)].join("\n")}\n`);
  world.ticket("t-0", {
    title: MARKUP[0],
    tags: MARKUP.slice(0, 6).map(text => JSON.stringify(text)),
    script: `printf '${lines}'\nwork done.txt done "$(printf '${octal(MARKUP.join(" "))}')"\nprintf 'QUESTION: '\nprintf '${said}'\nprintf '\\n'\n`,
  });
  world.engine();
  const item = await world.item("t-0", "question");
  const page = await scene.device(world);
  // The run that printed it.
  const run = (await world.rows()).map(one => JSON.stringify(one)).join().match(/t-0\.\d+\.\d+/)?.[0];
  assert.ok(run);
  const pages = ["", "inbox", `inbox/${item.id}`, "tickets", "tickets?q=onerror", "t/t-0", "t/t-0/history", `t/t-0/output?run=${run}`, "agents", "a/ada", "train", "events", "cost", "health"];
  for (let n = 0; n < all.length; n += 12) pages.push(`t/h-${n}`);
  for (const path of pages) {
    await visit(page, world, path);
    if (path === "tickets") await row(page, "h-0").waitFor();
    if (path === `inbox/${item.id}`) await page.getByText("onerror").first().waitFor();
    if (path.includes("/output")) await page.locator("[data-at]").getByText("onerror").first().waitFor();
    const seen = await page.evaluate(wrong);
    const { text, ...rest } = seen;
    assert.deepEqual(rest, { elements: [], links: [], handlers: [], pwned: false }, path);
    const hidden = text.match(HIDDEN);
    assert.equal(hidden, null, `${path} shows a character that hides: ${JSON.stringify(text.slice(Math.max(0, (hidden?.index ?? 0) - 30), (hidden?.index ?? 0) + 30))}`);
    assert.ok(page.url().startsWith(world.theWeb.url), `${path} led to ${page.url()}`);
  }
  // The text itself is there: it was shown, and not dropped.
  await visit(page, world, "t/h-0");
  await until("the markup is read as text", async () => (await page.locator("main").innerText()).includes("<img src=x onerror=globalThis.pwned=1>"));
});

scenario("(S17) a change that means harm is text on the card that asks for a word on it", async scene => {
  const world = await scene.world();
  // Names of files, without what parts a path; lines, one of them long, and a file that is no text.
  const names = ["<img src=x onerror=globalThis.pwned=1>", "\"><svg onload=globalThis.pwned=1>", "a\tb", "\u202etxt.exe", "\u001b[2Jc", "-rf", "$(touch pwned)", "x".repeat(200)];
  const lines = [...MARKUP, ...CORPUS.map(({ text }) => text), "y".repeat(20_000), "diff --git a/no b/no", "@@ -1 +1 @@"].join("\n");
  world.ticket("t-1", {
    title: "Mean harm",
    script: [
      ...names.map(name => `printf '${octal(lines)}' > "./$(printf '${octal(name)}')"`),
      "printf '\\000\\001' > binary",
      "ln -s /etc/passwd link",
      "echo '# more' >> crew.toml",
      "git add -A\ngit commit -q -m 'mean harm'\necho DONE\n",
    ].join("\n"),
  });
  world.engine();
  const item = await world.item("t-1");
  const page = await scene.device(world);
  await visit(page, world, `inbox/${item.id}`);
  await page.locator(".patch").getByText("onerror").first().waitFor();
  const { text, ...rest } = await page.evaluate(wrong);
  assert.deepEqual(rest, { elements: [], links: [], handlers: [], pwned: false });
  assert.equal(text.match(HIDDEN), null);
  assert.ok(text.includes("<img src=x onerror=globalThis.pwned=1>"), text);
  const files = await page.locator(".files li").allInnerTexts();
  assert.equal(files.length, names.length + 3, files.join("\n"));
  assert.ok(files.some(file => /sensitive.*crew\.toml/.test(file)), files.join("\n"));
  // Where a link leads is shown, and not what is there.
  assert.ok(!text.includes("root:"), text);
});
