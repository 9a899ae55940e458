import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Presses, SEQUENCE_MS, counting, isSingle, nameOf } from '../../page/src/keymap.js';

const press = (key, more = {}) =>
  nameOf({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, isComposing: false, keyCode: 0, getModifierState: () => false, ...more });
const binding = key => ({ key, label: key, run: () => undefined });

test('a press has the name of its character, or of its key', () => {
  assert.equal(press('j'), 'j');
  assert.equal(press('G', { shiftKey: true }), 'G');
  assert.equal(press('?', { shiftKey: true }), '?');
  assert.equal(press('k', { ctrlKey: true }), 'ctrl+k');
  assert.equal(press('K', { metaKey: true }), 'ctrl+k');
  assert.equal(press('PageDown'), 'PageDown');
  assert.equal(press('Enter', { shiftKey: true }), 'shift+Enter');
});

test('what an input method takes, and a modifier alone, is no press', () => {
  assert.equal(press('a', { isComposing: true }), null);
  assert.equal(press('Process', { keyCode: 229 }), null);
  assert.equal(press('Dead'), null);
  assert.equal(press('Shift', { shiftKey: true }), null);
  assert.equal(press('d', { altKey: true }), null);
});

test('a bracket made with AltGr is a bracket', () => {
  const altGr = { ctrlKey: true, altKey: true, getModifierState: (name) => name === 'AltGraph' };
  assert.equal(press('[', altGr), '[');
});

test('a sequence goes on for a while, and its last key counts alone where it means nothing', () => {
  const presses = new Presses();
  const all = ['g i', 'g g', 'j'].map(binding);
  const [go, top, next] = all;
  const press = (key, at) => presses.press(key, at, all);
  assert.equal(press('g', 0), 'begun');
  assert.equal(presses.begun, 'g');
  assert.equal(press('i', 100), go);
  assert.equal(press('g', 200), 'begun');
  assert.equal(press('g', 300), top);
  assert.equal(press('g', 400), 'begun');
  assert.equal(press('j', 500), next);
  assert.equal(press('g', 600), 'begun');
  assert.equal(press('i', 601 + SEQUENCE_MS), null);
  assert.equal(presses.begun, '');
});

test('of the same keys the latest counts', () => {
  const [page, card, other] = ['d', 'd', 'e'].map(binding);
  assert.deepEqual(counting([page, other, card], true), [card, other]);
});

test('characters can be switched off, other keys stay', () => {
  const all = ['j', 'g i', '?', 'ctrl+k', 'ArrowDown'].map(binding);
  assert.deepEqual(counting(all, false).map(({ key }) => key), ['ctrl+k', 'ArrowDown']);
  assert.deepEqual(['j', 'g i', 'ctrl+k', 'PageUp'].map(isSingle), [true, true, false, false]);
});
