import assert from 'node:assert/strict';
import { test } from 'node:test';

import { MOST_MARKS, buckets, daysBetween, niceTicks, shareOf, timeTicks, toCsv } from '../../page/src/plots/scale.js';

test('ticks are round and reach beyond the largest value', () => {
  assert.deepEqual(niceTicks(4.1), [0, 2, 4, 6]);
  assert.deepEqual(niceTicks(50), [0, 20, 40, 60]);
  assert.deepEqual(niceTicks(0), [0, 1]);
  for (const max of [0.0003, 1, 7, 99, 12_345]) {
    const ticks = niceTicks(max);
    assert.ok((ticks.at(-1) ?? 0) >= max && ticks.length <= 7, `${max}: ${ticks}`);
  }
});

test('moments are round in the local day, and far enough apart', () => {
  const from = new Date(2026, 0, 31, 9, 7).getTime();
  const ticks = timeTicks(from, from + 6 * 3_600_000, 400);
  assert.deepEqual(ticks.map((at) => new Date(at).getHours()), [10, 11, 12, 13, 14, 15]);
  assert.ok(ticks.every((at) => new Date(at).getMinutes() === 0));
  assert.deepEqual(timeTicks(from, from, 400), []);
});

test('days without anything are there too', () => {
  assert.deepEqual(daysBetween('2026-02-27', '2026-03-02'), ['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02']);
});

test('neighbours are joined where there are too many', () => {
  const rows = Array.from({ length: 1_000 }, (_, n) => n);
  const groups = buckets(rows);
  assert.ok(groups.length <= MOST_MARKS);
  assert.deepEqual(groups.flat(), rows);
  assert.equal(buckets([1, 2]).length, 2);
});

test('a span is cut by the window', () => {
  assert.deepEqual(shareOf(0, 100, 50, 150), { start: 0, end: 0.5, cut: true });
  assert.equal(shareOf(0, 40, 50, 150), null);
  assert.deepEqual(shareOf(100, 100, 50, 150), { start: 0.5, end: 0.5, cut: false });
});

test('a cell with quotes is quoted, and none becomes a formula', () => {
  assert.equal(
    toCsv(['id', 'title'], [['t-1', 'say "no", twice'], ['t-2', '=1+1'], [3, null]]),
    'id,title\r\nt-1,"say ""no"", twice"\r\nt-2,\'=1+1\r\n3,\r\n',
  );
});
