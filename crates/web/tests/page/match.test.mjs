import assert from 'node:assert/strict';
import { test } from 'node:test';

import { MOST, matching } from '../../page/src/match.js';

const entry = (kind, id, title) => ({ kind, id, title, run: () => undefined });
const entries = [
  entry('page', 'inbox', 'Inbox'),
  entry('page', 'train', 'Train'),
  entry('agent', 'ada', 'ada'),
  entry('ticket', 't-1', 'Add a login page'),
  entry('ticket', 't-12', 'Retrain the parser'),
  entry('ticket', 'x-12', 'Über alles'),
  entry('ticket', 't-120', 'Cache (the parser)'),
];
const ids = (typed) => matching(typed, entries).map(({ id }) => id);

test('nothing typed shows all, in their order', () => {
  assert.deepEqual(ids(' '), entries.map(({ id }) => id));
});

test('a typed id is first, whole or the part behind its dash', () => {
  assert.equal(ids('t-12')[0], 't-12');
  assert.deepEqual(ids('12').slice(0, 2), ['t-12', 'x-12']);
  assert.equal(ids('120')[0], 't-120');
});

test('the beginning of a text is better than the middle of a word', () => {
  assert.deepEqual(ids('train'), ['train', 't-12']);
  assert.deepEqual(ids('pars'), ['t-12', 't-120']);
});

test('all words must fit, without case and accents', () => {
  assert.deepEqual(ids('page LOGIN'), ['t-1']);
  assert.deepEqual(ids('uber'), ['x-12']);
  assert.deepEqual(ids('login parser'), []);
});

test('letters in order fit where they are near each other', () => {
  assert.deepEqual(ids('inbx'), ['inbox']);
  assert.deepEqual(ids('xyz'), []);
});

test('characters of expressions are characters', () => {
  assert.deepEqual(ids('(the'), ['t-120']);
  assert.deepEqual(ids('[a-z]+'), []);
});

test('no more than can be read', () => {
  const many = Array.from({ length: 5_000 }, (_, n) => entry('ticket', `t-${n}`, 'same words'));
  assert.equal(matching('same', many).length, MOST);
});
