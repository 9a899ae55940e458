// What of a text from outside is shown as an escape, and what makes an emoji the one it is.
import assert from "node:assert/strict";
import { test } from "node:test";
import { visible } from "../../page/src/format.js";

test("emoji are whole: their joiners and the signs of their colours stay", () => {
  for (const emoji of ["❤\ufe0f", "👩\u200d👩\u200d👧\u200d👦", "👩🏽\u200d🚀", "🏳\ufe0f\u200d🌈", "❤\ufe0f\u200d🔥", "1\ufe0f\u20e3", "🧑🏿\u200d⚕\ufe0f"]) {
    assert.equal(visible(`a ${emoji} b`), `a ${emoji} b`);
  }
});

test("everywhere else they are escaped, as all that hides is", () => {
  for (const [text, shown] of [
    ["a\ufe0f", "a\\ufe0f"],
    ["1\ufe0f2", "1\\ufe0f2"],
    ["❤\ufe0f\ufe0f", "❤\ufe0f\\ufe0f"],
    ["❤\ufe0e", "❤\\ufe0e"],
    ["D\u200dO", "D\\u200dO"],
    ["👩\u200d", "👩\\u200d"],
    ["👩\u200dx", "👩\\u200dx"],
    ["x\u200d👩", "x\\u200d👩"],
    ["👩\u200d\u200d👦", "👩\\u200d\\u200d👦"],
    ["🏽\u200d👦", "🏽\\u200d👦"],
    ["a\u202eb\u200bc\u{e0041}", "a\\u202eb\\u200bc\\u{e0041}"],
  ]) {
    assert.equal(visible(text), shown);
  }
});
