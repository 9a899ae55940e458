import assert from 'node:assert/strict';
import { test } from 'node:test';

import { MOST_LINES, append, hasFolds, prepend, reachesEnd, shown } from '../../page/src/output_window.js';
import { parser } from '../../page/src/sse.js';

const line = (at, more = {}) => ({ at, look: 'text', indent: 0, text: `line ${at}`, shown: 'always', joins: false, ...more });
const lines = (from, to) => Array.from({ length: (to - from) / 10 }, (_, n) => line(from + n * 10));
const window = (from, to, length = to) => ({ lines: lines(from, to), start: from, end: to, length, done: false });

test('lines that are there already do not come twice', () => {
  const after = append(window(100, 200), { lines: lines(180, 230), end: 230 });
  assert.deepEqual(after.lines.map(({ at }) => at), lines(100, 230).map(({ at }) => at));
  assert.deepEqual([after.start, after.end, after.length], [100, 230, 230]);
  const before = prepend(after, { lines: lines(50, 120), start: 50 });
  assert.deepEqual([before.start, before.end, before.lines.length], [50, 230, 18]);
});

test('what is held is bounded, and its places say what is missing', () => {
  const full = window(0, MOST_LINES * 10);
  const later = append(full, { lines: lines(full.end, full.end + 50), end: full.end + 50 });
  assert.equal(later.lines.length, MOST_LINES);
  assert.equal(later.start, 50);
  assert.ok(reachesEnd(later));
  const earlier = prepend(later, { lines: lines(0, 50), start: 0 });
  assert.equal(earlier.lines.length, MOST_LINES);
  assert.deepEqual([earlier.start, earlier.end], [0, full.end]);
  assert.ok(!reachesEnd(earlier));
});

test('lines of one entry stay together where the window is cut', () => {
  const twice = window(0, MOST_LINES * 10);
  twice.lines[1] = line(0);
  twice.lines[2] = line(0);
  const later = append(twice, { lines: [line(twice.end), line(twice.end)], end: twice.end + 10 });
  assert.equal(later.start, 30);
  const last = later.lines.at(-1).at;
  const earlier = prepend(later, { lines: lines(0, 30), start: 0 });
  assert.equal(earlier.end, last);
  assert.ok(earlier.lines.every(({ at }) => at < last));
});

test('a line that continues another stands behind it, and folded lines are hidden', () => {
  const tool = line(0, { text: '> Bash: ls', look: 'tool' });
  const got = line(10, { text: 'result', shown: 'unfolded' });
  const end = line(20, { text: 'ok', look: 'worked', joins: true });
  const all = [tool, got, end];
  assert.deepEqual(shown(all, false).map(({ text }) => text), ['> Bash: ls … ok']);
  assert.deepEqual(shown(all, true).map(({ text }) => text), ['> Bash: ls … ok', 'result']);
  assert.equal(shown(all, false)[0].look, 'worked');
  assert.ok(hasFolds(all) && !hasFolds([tool]));
  assert.deepEqual(shown([end], false).map(({ text }) => text), ['ok']);
});

test('messages are read out of pieces of any size', () => {
  const text = ': hello\n\nevent: lines\nid: 7\ndata: {"a":\ndata: 1}\n\nevent: done\r\ndata: {}\r\n\r\ndata: half';
  for (const size of [1, 3, 1_000]) {
    const parse = parser();
    const all = [];
    for (let at = 0; at < text.length; at += size) all.push(...parse(text.slice(at, at + size)));
    assert.deepEqual(all, [{ event: 'lines', data: '{"a":\n1}', id: '7' }, { event: 'done', data: '{}', id: '' }]);
  }
});
