// Server-sent events, however their text is cut into pieces.
import assert from "node:assert/strict";
import { test } from "node:test";
import { SILENCE, messages, parser } from "../../page/src/sse.js";

const TEXT = ': a beat\n\nevent: put\nid: 1.2.3\ndata: {"a":1}\n\nevent: lines\r\ndata: one\r\ndata: two\r\n\r\ndata: left open';

test("the same messages come whichever way the text is cut", () => {
  const whole = parser()(TEXT);
  assert.deepEqual(whole, [
    { event: "put", data: '{"a":1}', id: "1.2.3" },
    { event: "lines", data: "one\ntwo", id: "" },
  ]);
  for (let size = 1; size < TEXT.length; size += 1) {
    const parse = parser();
    const found = [];
    for (let at = 0; at < TEXT.length; at += size) found.push(...parse(TEXT.slice(at, at + size)));
    assert.deepEqual(found, whole, `in pieces of ${size}`);
  }
});

test("a server that is silent for too long is a line that was lost, and one that speaks is not", async context => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  let speak;
  const body = new ReadableStream({ start: it => { speak = text => it.enqueue(new TextEncoder().encode(text)); } });
  let heard = 0;
  let next;
  const found = messages(new Response(body), { take: () => undefined, heard: () => { heard += 1; next?.(); } });
  const failed = assert.rejects(found, TypeError);
  for (const beat of [2, 3, 4]) {
    context.mock.timers.tick(SILENCE - 1);
    const comes = new Promise(resolve => { next = resolve; });
    speak(":\n\n");
    await comes;
    assert.equal(heard, beat);
    await new Promise(resolve => setImmediate(resolve));
  }
  context.mock.timers.tick(SILENCE);
  await failed;
});
