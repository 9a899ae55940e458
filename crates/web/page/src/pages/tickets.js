// The tickets: those that are not over as a list that one can filter, and those that are over by pages.
import { h, useEffect, useMemo, useRef, useState } from '../h.js';
import { Problem, get, path } from '../api.js';
import { filter, sorts, whyOf } from '../filter.js';
import { money, oid } from '../format.js';
import { useKeys } from '../keymap.js';
import { at, query, repo, route } from '../router.js';
import { docs, orders } from '../store.js';
import { words } from '../words.js';
import { Empty, Failed, Loading } from '../ui/empty.js';
import { PageHead } from '../ui/head.js';
import { List } from '../ui/list.js';
import { Outside, Said, visible } from '../ui/outside.js';
import { Standing, State } from '../ui/state.js';
import { Age, Moment } from '../ui/time.js';

/** @typedef {import('../types').Ticket} Ticket */

const columns = ['Id', 'Title', 'State', 'Why, or since when', 'Agent', 'Priority', 'Cost'];

const overColumns = ['Id', 'Title', 'End', 'When', 'Agent', 'Cost'];

/** @param {Ticket} ticket */
const cells = ticket => {
  const why = whyOf(ticket);
  return [
    h('span', { class: 'id' }, ticket.id),
    h('a', { href: at('t', ticket.id), class: 'open' }, h(Outside, { text: ticket.title }),
      ticket.tags.length > 0 && h('span', { class: 'tags dim' }, ticket.tags.map(tag => h('span', { key: tag }, ' #', h(Outside, { text: tag }))))),
    h(Standing, { standing: ticket.standing }),
    h('span', { class: 'dim', title: visible(why) || undefined }, why ? [h(ticket.standing.sign === 'asks' ? Outside : Said, { text: why }), ' · '] : '', h(Age, { since: ticket.since })),
    ticket.agent ? h('a', { href: at('a', ticket.agent) }, h(Outside, { text: ticket.agent })) : h('span', { class: 'dim' }, '–'),
    h('span', { class: 'dim' }, h('span', { class: 'unseen' }, 'priority '), ticket.priority),
    h('span', { class: 'dim' }, ticket.cost_micro_usd ? money(ticket.cost_micro_usd) : '–'),
  ];
};

/** @param {import('../types').Over} over */
const overCells = over => [
  h('span', { class: 'id' }, over.id),
  h('a', { href: at('t', over.id), class: 'open' }, h(Outside, { text: over.title })),
  h(State, { sign: over.word, symbol: over.symbol, word: over.word }),
  h('span', { class: 'dim' }, over.at ? h(Moment, { at: over.at }) : '', over.commit && [' · ', h('code', { key: 'commit' }, oid(over.commit))]),
  over.agent ? h('span', null, h(Outside, { text: over.agent })) : h('span', { class: 'dim' }, '–'),
  h('span', { class: 'dim' }, over.usage.cost_micro_usd ? money(over.usage.cost_micro_usd) : '–'),
];

/** Those that are over, by pages of a hundred. @param {{q: string}} props */
const Over = ({ q }) => {
  const [found, setFound] = useState(/** @type {{q: string, tickets: import('../types').Over[], next: string | null} | null} */ (null));
  const [failed, setFailed] = useState(/** @type {{problem: Problem, retry: () => void} | null} */ (null));
  const asked = useRef(0);

  /** @param {string | null} before @param {import('../types').Over[]} had */
  const load = async (before, had) => {
    const mine = ++asked.current;
    setFailed(null);
    const search = new URLSearchParams({ over: 'true', limit: '100', ...(q ? { q } : {}), ...(before ? { before } : {}) });
    try {
      const page = await get(`${path('r', repo.peek() ?? '', 'tickets')}?${search}`);
      if (mine === asked.current) setFound({ q, tickets: [...had, ...page.tickets], next: page.next ?? null });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (mine === asked.current) setFailed({ problem: error, retry: () => load(before, had) });
    }
  };
  useEffect(() => {
    const timer = setTimeout(() => load(null, []), found ? 200 : 0);
    return () => clearTimeout(timer);
  }, [q]);

  const tickets = found?.tickets ?? [];
  const map = useMemo(() => new Map(tickets.map(ticket => [ticket.id, ticket])), [found]);
  const trouble = failed && h('div', { class: 'pad' }, h(Failed, failed));
  if (!found) return trouble || h(Loading, { rows: 8 });
  return h('div', null,
    h(List, {
      label: 'Tickets that are over', class: 'tickets-list is-over', columns: overColumns, keys: tickets.map(ticket => ticket.id), docs: map, cells: overCells, order: found,
      empty: h(Empty, { title: q ? 'No ticket that is over has these words.' : 'No ticket is over yet.' }),
    }),
    trouble || found.next && h('p', { class: 'pad' }, h('button', { type: 'button', onClick: () => load(found.next, tickets) }, 'More')));
};

export const Page = () => {
  const { query: asked } = route.value;
  const q = asked.get('q') ?? '';
  const sort = asked.get('sort') ?? '';
  const over = asked.get('over') === 'true';
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const tickets = docs.ticket.value;
  const all = orders.tickets.value;
  const keys = useMemo(() => {
    const passes = filter(q);
    const found = all.filter(key => {
      const ticket = tickets.get(key);
      return ticket && passes(ticket);
    });
    const by = sorts[sort]?.[1];
    // Sorting keeps crew's own order among equals.
    return by ? found.sort((a, b) => by(/** @type {Ticket} */ (tickets.get(a)), /** @type {Ticket} */ (tickets.get(b)))) : found;
  }, [tickets, all, q, sort]);

  useKeys([{ key: '/', label: 'Filter', run: () => field.current?.focus() }], []);

  const none = all.length === 0
    ? h(Empty, { title: 'No ticket is open.', type: ['crew ticket create "Add a login page"', 'crew run'] }, 'Write one, and start the engine.')
    : h(Empty, { title: 'No ticket has these words.' }, h('button', { type: 'button', onClick: () => query({ q: null }) }, 'Show all'));

  return h('div', { class: 'pane' },
    h(PageHead, { title: 'Tickets', beside: over ? null : words.ofAll(keys.length, all.length) },
      h('div', { class: 'tools' },
        h('input', {
          ref: field, type: 'search', class: 'filter', value: q, placeholder: 'Filter: words, state:held, agent:ada, p:0 …', 'aria-label': 'Filter', spellcheck: false, autocomplete: 'off',
          onInput: (/** @type {Event & {currentTarget: HTMLInputElement}} */ event) => query({ q: event.currentTarget.value }),
          onKeyDown: (/** @type {KeyboardEvent & {currentTarget: HTMLInputElement}} */ event) => {
            if (event.key === 'Escape') event.currentTarget.blur();
          },
        }),
        !over && h('select', {
          'aria-label': 'Order', value: sort,
          onChange: (/** @type {Event & {currentTarget: HTMLSelectElement}} */ event) => query({ sort: event.currentTarget.value }),
        }, h('option', { value: '' }, 'next first'), Object.entries(sorts).map(([key, [label]]) => h('option', { key, value: key }, label))),
        h('div', { class: 'segments', role: 'group', 'aria-label': 'Which tickets' },
          h('button', { type: 'button', 'aria-pressed': String(!over), onClick: () => query({ over: null }) }, 'Open'),
          h('button', { type: 'button', 'aria-pressed': String(over), onClick: () => query({ over: 'true' }) }, 'Over')))),
    over
      ? h(Over, { q })
      : h(List, { label: 'Tickets that are not over', class: 'tickets-list', columns, keys, docs: tickets, cells, memo: true, order: `${q}|${sort}`, empty: none }));
};
