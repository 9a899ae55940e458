// What is around every page: the head with the state of everything, bars, and the ways to the pages.
import { h, useEffect, useState } from './h.js';
import { base, forgets, looksOnly, skew } from './api.js';
import { at, go, page, pathNow, repo } from './router.js';
import { inbox, live, loaded, repos, repository, state } from './store.js';
import { waiting } from './snooze.js';
import { retry } from './stream.js';
import { sentence, span, time } from './format.js';
import { words } from './words.js';
import { Copy } from './ui/copy.js';
import { Dialog, Dialogs } from './ui/dialog.js';
import { Outside, Said, visible } from './ui/outside.js';
import { Age, Moment } from './ui/time.js';
import { Toasts } from './ui/toast.js';

/** @typedef {import('./types').Children} Children */

/** The pages: name, words, the first word of the address, whether it is in the bar of a narrow window. */
/** @type {[string, string, string, boolean][]} */
export const places = [
  ['now', 'Now', '', false],
  ['inbox', 'Inbox', 'inbox', true],
  ['tickets', 'Tickets', 'tickets', true],
  ['agents', 'Agents', 'agents', true],
  ['train', 'Train', 'train', true],
  ['cost', 'Cost', 'cost', false],
  ['events', 'Events', 'events', false],
  ['health', 'Health', 'health', false],
];

// The icons of the pages: drawn with one stroke, in the text's colour.
/** @type {Record<string, string[]>} */
const shapes = {
  now: ['M4 13a8 8 0 1 1 16 0', 'M12 13l4-4', 'M4 17h16'],
  inbox: ['M4 13l2.5-8h11L20 13v6H4z', 'M4 13h4.5l1.5 2.5h4l1.5-2.5H20'],
  tickets: ['M5 6h14', 'M5 12h14', 'M5 18h9'],
  agents: ['M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6z', 'M3 19c0-3 2-5 5-5s5 2 5 5', 'M16.5 12a2.5 2.5 0 1 0 0-5', 'M16 14.5c3 0 5 1.8 5 4.5'],
  train: ['M7 4h10v12H7z', 'M7 10h10', 'M9 20l1.5-4', 'M15 20l-1.5-4', 'M10 13h.01', 'M14 13h.01'],
  cost: ['M12 3v18', 'M16.5 7.5C16 6 14.500 5.500 12 5.500c-3 0-4.500 1.300-4.500 3.200 0 4.300 9 2.300 9 6.600 0 2-1.600 3.200-4.500 3.200-2.600 0-4.200-.8-4.700-2.500'],
  events: ['M8 6h12', 'M8 12h12', 'M8 18h12', 'M4 6h.01', 'M4 12h.01', 'M4 18h.01'],
  health: ['M3 12h4l2.500-6 4.500 12 2.500-6H21'],
  device: ['M5 5h14v10H5z', 'M9 19h6', 'M12 15v4'],
  more: ['M6 12h.01', 'M12 12h.01', 'M18 12h.01'],
};

/** @param {{name: string}} props */
const Icon = ({ name }) => h('svg', { viewBox: '0 0 24 24', class: `icon icon-${name}`, 'aria-hidden': 'true' },
  (shapes[name] ?? []).map(d => h('path', { key: d, d })));

/** Pages that belong to another's entry. @type {Record<string, string>} */
const under = { ticket: 'tickets', output: 'tickets', agent: 'agents' };

/** How stale what is shown is: null while it is live. */
const staleSince = () => (live.value.state === 'live' || !live.value.asOf ? null : live.value.asOf);

/** True while acts may be done: what is shown holds now. */
export const isLive = () => live.value.state === 'live';

/** Why nothing can be done now; null where it can. */
export const inert = () => (looksOnly() ? words.looksOnly : isLive() ? null : words.notLive);

/** The state of the line to the server, in a word. */
const Liveness = () => {
  const { state: it, asOf } = live.value;
  const off = skew.value ? `This device’s clock is ${span(Math.abs(skew.value))} ${skew.value > 0 ? 'behind' : 'ahead'}: ages are corrected.` : undefined;
  if (it === 'live') return h('span', { class: 'live good', title: off }, h('span', { class: 'dot', 'aria-hidden': 'true' }), 'live');
  if (it === 'connecting' || !asOf) {
    return h('span', { class: 'live waiting' }, h('span', { class: 'dot', 'aria-hidden': 'true' }), 'connecting');
  }
  return h('span', { class: 'live waiting' }, h('span', { class: 'dot', 'aria-hidden': 'true' }),
    h('span', { class: 'wide' }, 'reconnecting · '), `as of ${time(asOf)}`);
};

/** Ask how to stop the engine. */
const stop = () => import('./ui/stop.js').then(({ askStop }) => askStop());

/** Whether there is an engine to stop, and it may be. */
export const mayStop = () => Boolean(state.value?.engine) && inert() === null;

/** Search, go anywhere, or do anything. */
const palette = () => import('./palette.js').then(({ openPalette }) => openPalette());

/** The engine, in a word or two. */
const Engine = () => {
  const it = state.value;
  if (!it) return null;
  const { engine, pause, paused, stopping } = it;
  if (!engine) return h('span', { class: 'engine waiting' }, h('span', { 'aria-hidden': 'true' }, '○ '), 'no engine');
  if (engine.dead) return h('span', { class: 'engine wrong' }, h('span', { 'aria-hidden': 'true' }, '! '), 'engine dead');
  if (engine.stopped) return h('span', { class: 'engine wrong' }, h('span', { 'aria-hidden': 'true' }, '! '), 'engine stopped');
  if (stopping) return h('span', { class: 'engine waiting' }, h('span', { 'aria-hidden': 'true' }, '◌ '), 'stopping');
  if (pause || paused.length) {
    return h('span', { class: 'engine waiting' }, h('span', { 'aria-hidden': 'true' }, '‖ '), 'paused');
  }
  return h(looksOnly() ? 'span' : 'button', {
    class: 'engine quiet', title: visible(engine.words), ...(looksOnly() ? {} : { type: 'button', 'aria-haspopup': 'dialog', onClick: stop }),
  }, h('span', { class: 'working', 'aria-hidden': 'true' }, '●'), h('span', null, 'engine ', h(Age, { since: engine.since })));
};

/** The repository, and the way to the others. */
const Where = () => {
  const all = repos.value ?? [];
  const name = repository.value?.name ?? repo.value ?? '';
  const path = all.find(({ id }) => id === repo.value)?.path;
  const title = path && visible(path);
  if (all.length < 2) return h('a', { href: at(), class: 'where', title }, h(Outside, { text: name }));
  return h('select', {
    title, 'aria-label': 'Repository', class: 'where',
    value: repo.value ?? '',
    onChange: (/** @type {Event & {currentTarget: HTMLSelectElement}} */ event) =>
      go(`r/${encodeURIComponent(event.currentTarget.value)}/`),
  }, !repo.value && h('option', { value: '' }, 'choose…'),
  all.map(({ id, name: its }) => h('option', { key: id, value: id }, visible(its))));
};

const Head = () => h('header', { class: 'head' },
  h('a', { class: 'brand', href: repo.value ? at() : base }, 'crew'),
  h(Where, null),
  h('div', { class: 'liveness' }, h(Engine, null), h(Liveness, null)),
  h('p', { class: 'counts', role: 'group', 'aria-label': 'Tickets' },
    (state.value?.count_words ?? []).map(count => h('span', { key: count }, h(Outside, { text: count })))),
  h('div', { class: 'head-tools' },
    h('button', { type: 'button', class: 'quiet small', 'aria-label': 'Ctrl K: go to, or do', onClick: palette }, h('kbd', { 'aria-hidden': 'true' }, 'Ctrl K')),
    h('button', { type: 'button', class: 'quiet small', 'aria-label': '?: the keys', onClick: () => import('./palette.js').then(({ openHelp }) => openHelp()) }, h('kbd', { 'aria-hidden': 'true' }, '?'))));

/**
 * A bar across the window: something that holds for all of it.
 * @param {{tone: string, symbol: string, children?: Children}} props
 */
const Bar = ({ tone, symbol, children }) => h('div', { class: `bar ${tone}` },
  h('span', { class: 'symbol', 'aria-hidden': 'true' }, symbol), h('div', null, children));

/** @param {any} bar */
const isWrong = bar => bar.props.tone === 'wrong';

/** The bars that hold now. */
const Bars = () => {
  const [all, setAll] = useState(false);
  const it = state.value;
  const stale = staleSince();
  const [late, setLate] = useState(false);
  useEffect(() => {
    setLate(false);
    if (stale === null) return undefined;
    const timer = setTimeout(() => setLate(true), 5_000);
    return () => clearTimeout(timer);
  }, [stale]);
  /** @type {Children[]} */
  const bars = [];
  // While nothing answers, the engine's bar would say that acts are carried out at once.
  if (stale !== null && late) {
    bars.push(h(Bar, { key: 'stale', tone: 'waiting', symbol: '◌' },
      `This is as of ${time(stale)}: crew does not answer. Acts wait until it does. `,
      h('button', { type: 'button', class: 'small', onClick: retry }, 'Try again')));
  } else if (it?.trouble) {
    bars.push(h(Bar, { key: 'engine', tone: 'wrong', symbol: '!' }, h(Said, { text: sentence(it.trouble.says) }), '. ', h(Copy, { line: it.trouble.line })));
  } else if (it && !it.engine) {
    bars.push(h(Bar, { key: 'engine', tone: 'plain', symbol: '○' },
      'No engine runs: this is as it was left', it.at && [' at ', h(Moment, { key: 'at', at: it.at })], '. Agents are stepped by an engine: ', h(Copy, { line: 'crew run' }),
      h('span', { class: 'dim wide' }, ' What you do here is carried out at once.')));
  } else if (it?.stopping) {
    bars.push(h(Bar, { key: 'engine', tone: 'waiting', symbol: '◌' }, h(Said, { text: sentence(it.stopping) })));
  }
  if (forgets.value) {
    bars.push(h(Bar, { key: 'forgets', tone: 'waiting', symbol: '!' },
      'This browser keeps nothing: it is paired until this tab is closed or loaded anew.'));
  }
  if (it?.rejected_settings) {
    bars.push(h(Bar, { key: 'settings', tone: 'wrong', symbol: '!' },
      h('b', null, 'crew.toml cannot be used: '), h(Said, { text: it.rejected_settings })));
  }
  for (const text of it?.obstacles ?? []) {
    bars.push(h(Bar, { key: text, tone: 'waiting', symbol: '‖' }, h(Said, { text: sentence(text) })));
  }
  for (const text of it?.problems ?? []) {
    bars.push(h(Bar, { key: text, tone: 'waiting', symbol: '!' }, h(Said, { text: sentence(text) })));
  }
  if (bars.length === 0) return null;
  // What is wrong comes before what is only so.
  bars.sort((a, b) => Number(isWrong(b)) - Number(isWrong(a)));
  const shown = all ? bars : bars.slice(0, 2);
  return h('section', { class: 'bars', 'aria-label': 'State' }, shown,
    bars.length > shown.length && h('button', { type: 'button', class: 'quiet small more-bars', onClick: () => setAll(true) },
      `${bars.length - shown.length} more`));
};

/** The number on the inbox's entry: what waits for somebody; a dot for what is only parked. */
const Badge = () => {
  const count = waiting.value;
  if (count > 0) return h('span', { class: 'badge' }, count, h('span', { class: 'unseen' }, ' wait for you'));
  return inbox.value.length > 0 ? h('span', { class: 'badge dot-only' }, h('span', { class: 'unseen' }, 'parked items')) : null;
};

/** @param {{name: string, label: string, to: string, class?: string}} props */
const Way = ({ name, label, to, ...rest }) => {
  const here = (under[page.value] ?? page.value) === name;
  return h('a', { ...rest, href: to, 'aria-current': here ? 'page' : undefined },
    h(Icon, { name }), h('span', { class: 'way-label' }, label), name === 'inbox' && h(Badge, null));
};

const Ways = () => {
  const [more, setMore] = useState(false);
  const here = pathNow.value;
  useEffect(() => setMore(false), [here]);
  /** Once the sheet has given the focus back. @param {() => unknown} act */
  const then = act => {
    setMore(false);
    setTimeout(act);
  };
  return h('nav', { class: 'rail', 'aria-label': 'Pages' },
    places.map(([name, label, to, narrow]) =>
      h(Way, { key: name, name, label, to: at(to), class: narrow ? 'way' : 'way not-narrow' })),
    h(Way, { name: 'device', label: 'Device', to: `${base}device`, class: 'way not-narrow last' }),
    h('button', { type: 'button', class: 'way only-narrow', 'aria-haspopup': 'dialog', onClick: () => setMore(true) },
      h(Icon, { name: 'more' }), h('span', { class: 'way-label' }, 'More')),
    more && h(Dialog, { label: 'More pages', class: 'sheet', onClose: () => setMore(false) },
      h('div', { class: 'sheet-ways' },
        places.filter(([, , , narrow]) => !narrow).map(([name, label, to]) =>
          h(Way, { key: name, name, label, to: at(to), class: 'way' })),
        h(Way, { name: 'device', label: 'Device', to: `${base}device`, class: 'way' })),
      h('div', { class: 'sheet-acts' },
        h('button', { type: 'button', onClick: () => then(palette) }, 'Search'),
        mayStop() && h('button', { type: 'button', onClick: () => then(stop) }, 'Stop the engine…'),
        h('button', { type: 'button', onClick: () => setMore(false) }, 'Close'))));
};

/** @param {{children?: Children}} props */
export const Shell = ({ children }) => h('div', { class: `shell ${isLive() || !loaded.value ? '' : 'stale'}` },
  h('a', { class: 'skip', href: '#main', onClick: (/** @type {Event} */ event) => {
    event.preventDefault();
    document.getElementById('main')?.focus();
  } }, 'Skip to the page'),
  h(Head, null),
  h(Bars, null),
  h(Ways, null),
  h('main', { id: 'main', tabIndex: -1 }, children),
  h(Toasts, null),
  h(Dialogs, null));

