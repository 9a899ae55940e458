// What comes once the first page is there: keys, the palette, the service worker, notifications.
import { effect, h, render, signal } from './h.js';
import { Presses, bindings, counting, nameOf } from './keymap.js';
import { NOTIFY, kept, prefs } from './prefs.js';
import { at, go } from './router.js';
import { base } from './api.js';
import { mayStop, places } from './shell.js';
import { registration } from './service_worker.js';

/** @typedef {import('./keymap.js').GroupedBinding} Binding */

/** The letters behind `g` that lead to the pages. @type {Record<string, string>} */
export const LETTERS = { now: 'n', inbox: 'i', tickets: 't', agents: 'a', train: 'l', cost: 'c', events: 'e', health: 'h', device: 'd' };

/** The pages: name, words, address. @returns {[string, string, string][]} */
export const pages = () => [
  ...places.map(([name, label, to]) => /** @type {[string, string, string]} */ ([name, label, at(to)])),
  ['device', 'Device', `${base}device`],
];

/** The bindings that hold everywhere; set when they begin to count. @type {{all: import('./keymap.js').GroupedBinding[]}} */
export const everywhere = { all: [] };

/** Keys of a sequence that was begun, for those who see. */
const begun = signal('');

// What is not needed for the first page is loaded when a key first wants it.
const palette = () => import('./palette.js');
/** @param {number} by */
const move = by => { import('./rows.js').then(rows => rows.move(by)); };
/** @param {'page' | 'end'} how @param {number} way */
const scroll = (how, way) => { import('./rows.js').then(rows => rows.scroll(how, way)); };

/** @type {Binding[]} */
const global = [
  ...[['j', 1], ['ArrowDown', 1], ['k', -1], ['ArrowUp', -1]].map(([key, by]) => (
    { key: String(key), label: by === 1 ? 'the next row' : 'the row before', group: 'Lists', run: () => move(Number(by)) })),
  { key: 'PageDown', label: 'a page down', group: 'Lists', run: () => scroll('page', 1) },
  { key: 'PageUp', label: 'a page up', group: 'Lists', run: () => scroll('page', -1) },
  { key: 'g g', label: 'the first row', group: 'Lists', run: () => scroll('end', -1) },
  { key: 'G', label: 'the last row', group: 'Lists', run: () => scroll('end', 1) },
  { key: 'o', label: 'open the row, as Enter does', group: 'Lists', run: () => press('[data-row]:focus-within a.open, [data-row]:focus-within a, [data-row]:focus-within button') },
  { key: '/', label: 'filter', group: 'Lists', run: () => focus('main input[type="search"]') },
  { key: 'Escape', label: 'back', group: 'Lists', run: () => press('main .back, main [data-close]') },
  ...pages().map(([name, label]) => (
    { key: `g ${LETTERS[name]}`, label, group: 'Pages', run: () => go(pages().find(([it]) => it === name)?.[2] ?? '') })),
  { key: 'S', label: 'stop the engine', group: 'Everywhere', run: () => { if (mayStop()) import('./ui/stop.js').then(({ askStop }) => askStop()); } },
  { key: '.', label: 'all acts', group: 'Everywhere', run: () => { palette().then(it => it.openPalette({ only: 'act' })); } },
  { key: 'ctrl+k', label: 'go to, or do', group: 'Everywhere', run: () => { palette().then(it => it.openPalette()); } },
  { key: '?', label: 'these keys', group: 'Everywhere', run: () => { palette().then(it => it.openHelp()); } },
];

/** The first element that can be seen. @param {string} selector */
const visible = selector => [...document.querySelectorAll(selector)].find(it => it instanceof HTMLElement && it.offsetParent !== null);

/** @param {string} selector */
const press = selector => {
  const it = visible(selector);
  if (it instanceof HTMLElement) it.click();
};

/** @param {string} selector */
const focus = selector => {
  const it = visible(selector);
  if (it instanceof HTMLInputElement) {
    it.focus();
    it.select();
  }
};

const NO_TEXT = new Set(['checkbox', 'radio', 'button', 'submit', 'reset', 'range', 'color', 'file']);

/** Whether keys go into a field. @param {EventTarget | null} target */
const isField = target => target instanceof HTMLElement && (target.isContentEditable || target instanceof HTMLTextAreaElement
  || target instanceof HTMLSelectElement || (target instanceof HTMLInputElement && !NO_TEXT.has(target.type)));

const presses = new Presses();

/** @param {KeyboardEvent} event */
const heard = event => {
  if (event.defaultPrevented || document.querySelector('dialog[open]')) return;
  const name = nameOf(event);
  if (name === null) return;
  if (isField(event.target)) {
    if (name === 'Escape' && event.target instanceof HTMLElement) event.target.blur();
    if (!name.startsWith('ctrl+')) return;
  }
  const meant = presses.press(name, event.timeStamp, counting([...global, ...bindings.peek()], prefs.peek().keys));
  begun.value = presses.begun;
  if (meant === null) return;
  event.preventDefault();
  if (meant !== 'begun') meant.run();
};

/** The sequence that was begun, in a corner. */
const Begun = () => begun.value && h('div', { class: 'begun', 'aria-hidden': 'true' }, begun.value.split(' ').map(key => h('kbd', { key }, key)), ' …');

/** Begin to tell, if this device does. */
const tell = () => {
  if (kept(NOTIFY) === 'on') import('./notifications.js').then(it => it.start());
};

export const start = () => {
  everywhere.all = global;
  addEventListener('keydown', heard);
  const corner = document.body.appendChild(document.createElement('div'));
  render(h(Begun, null), corner);
  effect(() => {
    if (!begun.value) return undefined;
    import('./style.js');
    const timer = setTimeout(() => { begun.value = ''; }, 1_500);
    return () => clearTimeout(timer);
  });
  registration();
  tell();
  addEventListener('storage', ({ key }) => { if (key === NOTIFY) tell(); });
};
