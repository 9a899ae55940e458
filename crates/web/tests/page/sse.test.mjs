// Server-sent events, however their text is cut into pieces.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parser } from "../../page/src/sse.js";

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
