// The question for how long an item is to be snoozed on this device.
import { h } from '../h.js';
import { moment } from '../format.js';
import { now } from '../store.js';
import { snooze } from '../snooze.js';
import { ask } from './dialog.js';

const HOUR = 3_600_000;

/** The morning of the next day, where the browser is. */
const tomorrow = () => new Date(now.peek()).setHours(24 + 8, 0, 0, 0);

/** Ask, and do it. @param {import('../types').Item} item */
export const askSnooze = async item => {
  /** @type {[string, number][]} */
  const choices = [['for an hour', now.peek() + HOUR], [`until tomorrow, ${moment(tomorrow())}`, tomorrow()], ['until it changes', 0]];
  const until = await ask('Snooze', close => h('div', { class: 'dialog-form' },
    h('h2', null, 'Snooze on this device'),
    h('p', null, 'It goes on waiting. Until then it does not count here.'),
    h('div', { class: 'choices' }, choices.map(([words, at], n) =>
      h('button', { key: words, type: 'button', autofocus: n === 0, onClick: () => close(at) }, words))),
    h('div', { class: 'dialog-acts' }, h('button', { type: 'button', onClick: () => close(undefined) }, 'Cancel'))));
  if (until !== undefined) snooze(item, until);
};
