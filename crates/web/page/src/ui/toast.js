// Outcomes: a toast for what was accepted, and the one polite live region, joined over five seconds.
import { h, signal } from '../h.js';
import { Said, visible } from './outside.js';

/** @typedef {{id: number, text: string, to?: string, tone?: string}} Shown */

/** @type {import('../../vendor/signals.js').Signal<Shown[]>} */
const shown = signal([]);
const spoken = signal('');

/** @type {string[]} */
let queue = [];
let timer = 0;
let next = 1;

/** Say something to those who do not see it. @param {string} said */
export const announce = said => {
  const text = visible(said);
  if (!queue.includes(text)) queue.push(text);
  timer ||= setTimeout(() => {
    spoken.value = queue.join(' ');
    queue = [];
    timer = 0;
  }, spoken.peek() === '' && queue.length === 1 ? 300 : 5_000);
};

/** Show an outcome for ten seconds. @param {string} text @param {{to?: string, tone?: string}} [more] */
export const toast = (text, more = {}) => {
  const it = { id: next++, text, ...more };
  shown.value = [...shown.peek(), it].slice(-4);
  announce(text);
  leave(it.id);
};

/** @param {number} id */
const leave = id => setTimeout(() => {
  // It stays for as long as somebody is at it.
  const element = document.querySelector(`[data-toast="${id}"]`);
  if (element?.matches(':hover, :focus-within')) leave(id);
  else close(id);
}, 10_000);

/** @param {number} id */
const close = id => {
  shown.value = shown.peek().filter(it => it.id !== id);
};

export const Toasts = () => h('div', { class: 'toasts' },
  h('div', { role: 'status', 'aria-live': 'polite', class: 'unseen' }, spoken.value),
  shown.value.map(it => h('div', { key: it.id, class: `toast ${it.tone ?? 'good'}`, 'data-toast': it.id },
    h('span', { class: 'symbol', 'aria-hidden': 'true' }, it.tone === 'wrong' ? '!' : '✓'),
    it.to ? h('a', { href: it.to }, h(Said, { text: it.text })) : h(Said, { text: it.text }),
    h('button', { type: 'button', class: 'quiet small', 'aria-label': 'Close', onClick: () => close(it.id) }, '×'))));
