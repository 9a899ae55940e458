// Pages of others in the same browser: one on another local port, a name that leads to this machine. They read
// nothing and change nothing, while crew is open and paired beside them.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { launch, scenario } from "../harness.mjs";
import { until } from "../wait.mjs";
import { ASKS } from "../world.mjs";

/** Serves one page on a free port of loopback. */
const stranger = html =>
  new Promise(resolve => {
    const asked = [];
    const server = createServer((request, answer) => {
      asked.push({ url: request.url, headers: request.headers });
      answer.writeHead(200, { "content-type": "text/html; charset=utf-8" });
      answer.end(html);
    });
    server.listen(0, "127.0.0.1", () => {
      resolve({ url: `http://127.0.0.1:${server.address().port}/`, asked, close: () => server.close() });
    });
  });

/** Everything that a page can try; what it came to, by its name. */
const tries = async ({ crew, repo, item }) => {
  const came = {};
  const attempt = async (name, act) => {
    try {
      came[name] = await act();
    } catch (error) {
      came[name] = `refused: ${error.name}`;
    }
  };
  const api = `${crew}api/v1/`;
  for (const path of ["hello", "repos", `r/${repo}/view`, "stream"]) {
    await attempt(`read ${path}`, async () => (await fetch(api + path)).status);
    await attempt(`read ${path} with credentials`, async () => (await fetch(api + path, { credentials: "include" })).status);
    await attempt(`read ${path} blindly`, async () => (await fetch(api + path, { mode: "no-cors" })).type);
  }
  const body = JSON.stringify({ verb: "answer", text: "the answer is evil" });
  const act = `${api}r/${repo}/inbox/${encodeURIComponent(item)}/acts/0197a000-0000-7000-8000-000000000001`;
  for (const method of ["PUT", "POST", "PATCH", "DELETE"]) {
    await attempt(`${method} an act`, async () => (await fetch(act, { method, body, headers: { "content-type": "application/json" } })).status);
  }
  await attempt("POST an act blindly", async () => (await fetch(act, { method: "POST", body, mode: "no-cors" })).type);
  await attempt("POST a method override", async () =>
    (await fetch(`${act}?_method=PUT`, { method: "POST", body, mode: "no-cors", headers: { "content-type": "text/plain" } })).type);
  await attempt("pair", async () => (await fetch(`${api}pair`, { method: "POST", body: '{"code":"x","name":"y"}', mode: "no-cors" })).type);
  const loads = (tag, address) =>
    new Promise(resolve => {
      const element = document.createElement(tag);
      element.onload = () => resolve("loaded");
      element.onerror = () => resolve("refused");
      if (tag === "link") {
        element.rel = "stylesheet";
        element.href = address;
      } else element.src = address;
      document.body.append(element);
    });
  await attempt("a script of crew's", () => loads("script", `${crew}sw.js`));
  await attempt("a picture of crew's", () => loads("img", `${crew}icon.svg`));
  await attempt("a style of crew's", () => loads("link", crew));
  await attempt("a frame", async () => {
    const frame = document.createElement("iframe");
    frame.src = crew;
    const loaded = new Promise(resolve => (frame.onload = resolve));
    document.body.append(frame);
    await loaded;
    return frame.contentDocument ? "readable" : frame.contentWindow.length;
  });
  await attempt("a form", async () => {
    const frame = document.createElement("iframe");
    frame.name = "target";
    document.body.append(frame);
    const form = document.createElement("form");
    Object.assign(form, { action: act, method: "post", target: "target", enctype: "text/plain" });
    const field = document.createElement("input");
    Object.assign(field, { name: '{"verb":"answer","text":"the answer is evil","x":"', value: '"}' });
    form.append(field);
    document.body.append(form);
    const loaded = new Promise(resolve => (frame.onload = resolve));
    form.submit();
    await loaded;
    return "sent";
  });
  await attempt("what crew stores", async () => JSON.stringify({ ...localStorage }));
  await attempt("cookies", async () => document.cookie);
  return came;
};

scenario("(S18) a page on another local port reads and changes nothing", async scene => {
  const world = await scene.world({}, { engine: true });
  world.ticket("t-1", { title: "A secret title", script: ASKS("Which one?") });
  const item = await world.item("t-1", "question");
  const page = await scene.device(world);
  await page.getByText("A secret title").first().waitFor();
  const before = { rows: (await world.rows()).length, devices: (await world.json("web", "devices")).devices.length };
  const other = await stranger("<!doctype html><title>other</title><p>a page of another program");
  scene.closing.push(other.close);
  scene.others = [new URL(other.url).origin];
  const evil = await scene.tab(page.context());
  // What this page is refused is what its browser complains of.
  scene.expected = [/violates the policy/];
  await evil.goto(other.url);
  const came = await evil.evaluate(tries, { crew: world.theWeb.url, repo: world.name, item: item.id });
  for (const [name, what] of Object.entries(came)) {
    if (name.startsWith("read") && name.endsWith("blindly")) assert.match(String(what), /opaque|refused/, name);
    else if (name.endsWith("blindly") || name === "pair" || name === "POST a method override") assert.match(String(what), /opaque|refused/, name);
    else if (name === "a frame") assert.equal(String(what).includes("readable"), false, name);
    else if (name === "a form") assert.match(String(what), /sent|refused/, name);
    else if (name === "what crew stores") assert.equal(what, "{}", name);
    else if (name === "cookies") assert.equal(what, "", name);
    else assert.match(String(what), /refused/, `${name}: ${what}`);
  }
  // The frame shows nothing of crew.
  for (const frame of evil.frames().slice(1)) {
    const shown = await frame.evaluate(() => document.body?.innerText ?? "").catch(() => "");
    assert.equal(/A secret title|Inbox/.test(shown), false, `a frame shows: ${shown}`);
  }
  // A window that it opens is out of its reach at once.
  const opened = page.context().waitForEvent("page");
  await evil.evaluate(crew => void (globalThis.other = window.open(crew)), world.theWeb.url);
  const child = await opened;
  scene.watch(child);
  await child.getByText("A secret title").first().waitFor();
  const reach = await evil.evaluate(() => {
    try {
      return { closed: globalThis.other.closed, href: globalThis.other.location.href };
    } catch (error) {
      return { closed: globalThis.other.closed, href: error.name };
    }
  });
  assert.equal(reach.closed || reach.href === "SecurityError", true, JSON.stringify(reach));
  assert.equal(await child.evaluate(() => window.opener === null), true, "crew's page has an opener");
  // Nothing has come of it, and no cookie was sent.
  const after = { rows: (await world.rows()).length, devices: (await world.json("web", "devices")).devices.length };
  assert.deepEqual(after, before);
  assert.equal((await world.item("t-1", "question")).id, item.id);
  for (const { headers } of other.asked) assert.equal(headers.cookie, undefined);
});

scenario("(S18) a name that leads to this machine gets nothing", async scene => {
  const world = await scene.world();
  const rebound = await launch(["--host-resolver-rules=MAP evil.test 127.0.0.1"]);
  try {
    const page = await scene.device(world, { pair: false, browser: rebound });
    scene.others = [`http://evil.test:${world.theWeb.port}`];
    for (const path of ["", "pair", "api/v1/hello", "a/dev/src/main.js", "sw.js", "icon.svg"]) {
      const answer = await page.goto(`http://evil.test:${world.theWeb.port}/${path}`);
      assert.equal(answer.status(), 421, path);
    }
    const status = await page.evaluate(async () => (await fetch("/api/v1/repos")).status);
    assert.equal(status, 421);
    await until("nothing of crew is shown", async () => !(await page.evaluate(() => document.body.innerText)).includes("Pair"));
  } finally {
    await rebound.close();
  }
});
