// Everything that waits for a person: the list by urgency, and the card of the chosen one.
import { h, signal, useEffect, useRef, useState } from '../h.js';
import { looksOnly } from '../api.js';
import { useKeys } from '../keymap.js';
import { at, go, query, route } from '../router.js';
import { docs, inbox, orders, state } from '../store.js';
import { snoozeOf } from '../snooze.js';
import { kindOf, urgencies, urgencyTone, words } from '../words.js';
import { Empty } from '../ui/empty.js';
import { PageHead } from '../ui/head.js';
import { ItemCard } from '../ui/item.js';
import { List } from '../ui/list.js';
import { useMedia } from '../ui/media.js';
import { Outside, visible } from '../ui/outside.js';
import { ItemKind } from '../ui/state.js';
import { Age } from '../ui/time.js';

/** @typedef {import('../types').Item} Item */

/**
 * The items that are chosen for one act on all of them, and the last one, from which a range goes.
 * @type {import('../../vendor/signals.js').Signal<Set<string>>}
 */
const picked = signal(new Set());
let pickedLast = '';

/** The keys of the items that are listed: all, or those of the kind that is asked for. */
const listed = () => {
  const kind = route.value.query.get('kind');
  return orders.inbox.value.filter(id => {
    const item = docs.item.value.get(id);
    return item && (!kind || item.kind === kind);
  });
};

/** Choose one, or not; with `range` all that are listed from the last one. @param {string} id @param {boolean} range */
const pick = (id, range = false) => {
  const order = listed();
  const [from, to] = [order.indexOf(pickedLast), order.indexOf(id)].sort((a, b) => a - b);
  const next = new Set(picked.peek());
  const on = !next.has(id);
  for (const one of range && from >= 0 ? order.slice(from, to + 1) : [id]) {
    if (on) next.add(one);
    else next.delete(one);
  }
  pickedLast = id;
  picked.value = next;
};

/** The key of the row that has the focus, else of the item that is shown. */
const atHand = () => document.activeElement?.closest('[data-row]')?.getAttribute('data-row') ?? route.peek().params[0] ?? null;

/** @param {{item: Item}} props */
const Pick = ({ item }) => h('label', { class: 'pick' },
  h('input', {
    type: 'checkbox', checked: picked.value.has(item.id), 'aria-label': `Choose ${item.ticket ?? visible(item.title)}`,
    onClick: (/** @type {MouseEvent} */ event) => pick(item.id, event.shiftKey),
  }));

/** @param {Item} item */
const cells = item => [
  [h(ItemKind, { item }), h('span', { class: 'unseen' }, `, ${urgencies[item.urgency]}`),
    item.agent && h('span', { class: 'dim' }, ' ', h(Outside, { text: item.agent })),
    snoozeOf(item) && h('span', { class: 'dim' }, ' · snoozed')],
  h('a', { href: at('inbox', item.id), class: 'open' }, h(Outside, { text: item.title })),
  item.ticket && h('span', { class: 'id' }, item.ticket),
  h(Age, { since: item.since, class: 'dim' }),
  looksOnly() ? null : h(Pick, { item }),
];

/** Nothing waits: what goes on instead. */
const Nothing = () => h(Empty, { title: words.nothingWaits, symbol: '✓' },
  h('div', { class: 'chips' }, (state.value?.count_words ?? []).map(count => h('span', { key: count, class: 'chip' }, h(Outside, { text: count })))),
  h('p', null, h('a', { href: at('tickets') }, 'All tickets')));

/** The latest of its ticket: loaded after what a person is to act on. @param {{id: string}} props */
const Latest = ({ id }) => {
  const [part, setPart] = useState(/** @type {any} */ (null));
  useEffect(() => {
    import('../ui/history.js').then(setPart);
  }, []);
  return h('aside', { class: 'context', 'aria-label': `Latest of ${id}` },
    h('h2', null, 'Latest'), part && h(part.History, { key: id, id, most: 14 }));
};

/** What became of an item that waits no more: few look at one. @param {{id: string}} props */
const Late = ({ id }) => {
  const [part, setPart] = useState(/** @type {any} */ (null));
  useEffect(() => {
    import('../ui/settled.js').then(setPart);
  }, []);
  return part && h(part.Settled, { id });
};

/** The item that is shown, and what is known of its ticket. @param {{id: string, keyless: boolean}} props */
const Chosen = ({ id, keyless }) => {
  // In a narrow window the card is the page: its title is the one heading.
  const narrow = useMedia('(max-width: 699.98px)');
  useEffect(() => {
    if (narrow) document.querySelector('h1')?.focus();
  }, [id]);
  const item = docs.item.value.get(id);
  const next = orders.inbox.value.find(other => other !== id && docs.item.value.has(other));
  // What has just left stays in sight, and says so.
  const last = useRef(/** @type {Item | null} */ (null));
  if (item) last.current = item;
  else if (last.current?.id !== id) last.current = null;
  const shown = item ?? last.current;
  if (!shown) return h(Late, { key: id, id });
  return h('div', { class: 'item-page' },
    h(ItemCard, { key: id, item: shown, gone: !item, heading: narrow ? 'h1' : 'h2', next: next ? at('inbox', next) : null, keyless }),
    shown.ticket && h(Latest, { id: shown.ticket }));
};

export const Page = () => {
  const { params, query: asked } = route.value;
  const kind = asked.get('kind') ?? '';
  const kinds = [...new Set(inbox.value.map(item => item.kind))];
  const keys = listed();
  const chosen = params[0] ?? null;
  const search = kind ? `?kind=${encodeURIComponent(kind)}` : '';

  // In a wide window the first one is shown beside the list.
  const first = keys[0] ?? null;
  useEffect(() => {
    if (!chosen && first && matchMedia('(min-width: 700px)').matches) go(at('inbox', first) + search, { replace: true });
  }, [chosen === null, first === null]);

  /** @param {number} by */
  const step = by => {
    const next = keys[keys.indexOf(chosen ?? '') + by];
    if (!next) return;
    go(at('inbox', next) + search, { replace: true });
    // The focus of the list goes along: keys are about the row that has it.
    const row = document.activeElement?.closest('[data-row]');
    if (!row) return;
    const to = [...(row.parentElement?.children ?? [])].find(it => it.getAttribute('data-row') === next)?.querySelector('a');
    if (to) to.focus();
    else if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  };
  /** The row that gets the focus is the one that is shown: acts are about both. @param {FocusEvent} event */
  const onFocusIn = event => {
    const { target } = event;
    if (!(target instanceof Element) || !matchMedia('(min-width: 700px)').matches) return;
    const id = target.closest('[data-row]')?.getAttribute('data-row');
    // A link that is pressed goes there by itself.
    if (!id || id === chosen || !(target.matches(':focus-visible') || target instanceof HTMLInputElement)) return;
    go(at('inbox', id) + search, { replace: true });
  };
  useKeys([
    { key: '[', label: 'Previous item', run: () => step(-1) },
    { key: ']', label: 'Next item', run: () => step(1) },
    ...(looksOnly() ? [] : [
      { key: 'x', label: 'Choose the item, for one act on several', run: () => pick(atHand() ?? '') },
      { key: 'X', label: 'Choose all from the last one', run: () => pick(atHand() ?? '', true) },
    ]),
  ], [chosen, keys.join()]);

  // What has been chosen and waits no more is not chosen any more.
  const several = keys.flatMap(id => (picked.value.has(id) ? docs.item.value.get(id) ?? [] : []));
  const [bulk, setBulk] = useState(/** @type {any} */ (null));
  useEffect(() => {
    if (several.length > 0 && !bulk) import('../ui/bulk.js').then(setBulk);
  }, [several.length > 0]);
  useEffect(() => () => { picked.value = new Set(); }, []);

  return h('div', { class: `split inbox ${chosen ? 'has-detail' : ''} ${several.length > 0 ? 'is-picking' : ''}` },
    h('section', { class: 'pane master', 'aria-label': 'What waits', onFocusIn },
      h(PageHead, { title: 'Needs you', beside: keys.length ? String(keys.length) : null },
        kinds.length > 1 && h('select', {
          class: 'end', 'aria-label': 'Kind', value: kind,
          onChange: (/** @type {Event & {currentTarget: HTMLSelectElement}} */ event) => query({ kind: event.currentTarget.value }),
        }, h('option', { value: '' }, 'all kinds'), kinds.map(it => h('option', { key: it, value: it }, kindOf(it).words)))),
      h(List, {
        label: 'Items that wait for a person', class: 'inbox-list', columns: ['Kind', 'Title', 'Ticket', 'Waits', 'Choose'],
        keys, docs: docs.item.value, cells, memo: true, tone: item => (snoozeOf(item) ? 'urgent-dim snoozed' : `urgent-${urgencyTone(item.urgency)}`), current: chosen, order: kind,
        empty: h(Nothing, null),
      }),
      keys.length > 0 && h('p', { class: 'dim list-end' }, 'Nothing else waits.'),
      bulk && h(bulk.Bulk, { items: several, clear: () => { picked.value = new Set(); } })),
    h('section', { class: 'pane detail', 'aria-label': 'The chosen item' },
      chosen && h('a', { href: at('inbox') + search, class: 'back-line only-narrow' }, '‹ Needs you'),
      chosen ? h(Chosen, { id: chosen, keyless: several.length > 0 }) : keys.length > 0 && h(Empty, { title: 'Choose an item.' })));
};
