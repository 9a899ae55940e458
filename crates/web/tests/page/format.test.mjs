// How the page writes numbers, money and spans of time.
import assert from "node:assert/strict";
import { test } from "node:test";
import { cost, money, oid, pieces, short, span } from "../../page/src/format.js";

test("money is in US dollars, and less than a cent is said to be so", () => {
  assert.equal(money(0), "$0.00");
  assert.equal(money(1), "<$0.01");
  assert.equal(money(3_180_000), "$3.18");
});

test("what is partly estimated is marked, and what cost nothing is a dash", () => {
  assert.equal(cost(null), "–");
  assert.equal(cost({ cost_micro_usd: 0 }), "–");
  assert.equal(cost({ cost_micro_usd: 410_000, estimated_micro_usd: 410_000 }), "~$0.41");
  assert.equal(cost({ cost_micro_usd: 410_000, estimated_micro_usd: 0 }), "$0.41");
});

test("a span has its two largest units", () => {
  const second = 1_000;
  const minute = 60 * second;
  for (const [ms, text] of [
    [-1, "0s"],
    [59_999, "59s"],
    [minute, "1m"],
    [61 * minute + second, "1h 1m"],
    [120 * minute, "2h"],
    [25 * 60 * minute, "1d 1h"],
    [48 * 60 * minute, "2d"],
  ]) {
    assert.equal(span(ms), text);
  }
});

test("counts and ids are shortened", () => {
  assert.equal(short(9_999), "9,999");
  assert.match(short(41_200), /^41\.2K$/);
  assert.equal(oid("59b8aef0123456789"), "59b8aef");
});

test("a sentence of crew has its code and its moments apart, and a lone backtick stays", () => {
  const shown = text => pieces(text).map(({ kind, text: piece }) => `${kind}:${piece}`);
  assert.deepEqual(shown("`crew retry t-1` tries it again"), ["code:crew retry t-1", "text: tries it again"]);
  assert.deepEqual(shown("not before 2026-01-02T03:04:05Z, then"), ["text:not before ", "moment:2026-01-02T03:04:05Z", "text:, then"]);
  assert.deepEqual(shown("a `b` c ` d"), ["text:a ", "code:b", "text: c ` d"]);
  assert.deepEqual(shown("<b>`<i>`"), ["text:<b>", "code:<i>"]);
  assert.deepEqual(shown(""), []);
});
