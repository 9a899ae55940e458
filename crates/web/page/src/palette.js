// The command palette and the help of the keys.
import { h, useEffect, useMemo, useRef, useState } from './h.js';
import { get, path } from './api.js';
import { bindings, counting } from './keymap.js';
import { matching } from './match.js';
import { prefs } from './prefs.js';
import { at, go, repo } from './router.js';
import { inert, mayStop } from './shell.js';
import { docs, orders } from './store.js';
import { spawn } from './ui/agent_acts.js';
import { LETTERS, everywhere, pages } from './assist.js';
import { ask, isAsking } from './ui/dialog.js';
import './style.js';
import { Outside } from './ui/outside.js';

/** @typedef {import('./match.js').Entry} Entry */
/** @typedef {import('./keymap.js').GroupedBinding} Binding */

/** Kinds whose id is no ticket's. */
const NO_ID = new Set(['page', 'act', 'agent']);
const KINDS = { page: 'page', act: 'act', agent: 'agent', ticket: 'ticket', answer: 'answer', event: 'event', commit: 'commit' };

/** From so many characters on, the server is asked, too: for texts, answers, events and commits. */
const ASKED = 3;

/** Everything that the palette can lead to or do. @returns {Entry[]} */
const entries = () => {
  /** @type {Entry[]} */
  const all = pages().map(([name, label, to]) => ({ kind: 'page', id: name, title: label, keys: `g ${LETTERS[name]}`, run: () => go(to) }));
  const why = inert();
  for (const it of counting([...everywhere.all.filter(its => its.key === 'S' && mayStop()), ...bindings.value], true)) {
    if (!it.inert && !all.some(entry => entry.title === it.label)) all.push({ kind: 'act', id: it.key, title: it.label, keys: it.key, run: it.run });
  }
  if (!why && !all.some(it => it.title === 'Spawn…')) all.push({ kind: 'act', id: 'spawn', title: 'Spawn agents…', run: spawn });
  all.push({ kind: 'act', id: 'help', title: 'Show all keys', keys: '?', run: openHelp });
  for (const name of orders.agents.value) {
    const agent = docs.agent.value.get(name);
    if (agent) all.push({ kind: 'agent', id: name, title: name, note: agent.ticket ? `${agent.state}, ${agent.ticket}` : agent.state, run: () => go(at('a', name)) });
  }
  for (const id of orders.tickets.value) {
    const ticket = docs.ticket.value.get(id);
    if (ticket) all.push({ kind: 'ticket', id, title: ticket.title, note: ticket.standing.word, run: () => go(at('t', id)) });
  }
  for (const id of orders.landed.value) {
    const landed = docs.landed.value.get(id);
    if (landed && !docs.ticket.value.has(landed.ticket)) all.push({ kind: 'ticket', id: landed.ticket, title: landed.title, note: 'landed', run: () => go(at('t', landed.ticket)) });
  }
  return all;
};

/** Open the palette. @param {{only?: Entry['kind']}} [how] */
export const openPalette = async ({ only } = {}) => {
  if (isAsking() || repo.peek() === null) return;
  const all = entries().filter(entry => !only || entry.kind === only);
  const chosen = await ask(only ? 'Acts' : 'Go to, or do', close => h(Palette, { all, close, only: only ?? null }));
  // The dialog gives the focus back first.
  if (chosen) setTimeout(chosen.run);
};

/** @param {{all: Entry[], only: string | null, close: (chosen?: Entry) => void}} props */
const Palette = ({ all, only, close }) => {
  const [typed, setTyped] = useState('');
  const [at0, setAt] = useState(0);
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const hits = useHits(only ? '' : typed);
  const found = useMemo(() => {
    const own = matching(typed, all);
    const known = new Set(own.map(entry => entry.id));
    return withId(typed, [...own, ...hits.filter(hit => hit.kind !== 'ticket' || !known.has(hit.id))]);
  }, [typed, all, hits]);
  const chosen = Math.min(at0, Math.max(0, found.length - 1));
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen, found]);

  /** @param {KeyboardEvent} event */
  const onKeyDown = event => {
    if (event.isComposing) return;
    const { key } = event;
    const to = key === 'ArrowDown' ? chosen + 1 : key === 'ArrowUp' ? chosen - 1 : key === 'PageDown' ? chosen + 8 : key === 'PageUp' ? chosen - 8 : null;
    if (to !== null) {
      event.preventDefault();
      setAt(Math.max(0, Math.min(found.length - 1, to)));
    } else if (key === 'Enter') {
      event.preventDefault();
      close(found[chosen]);
    } else if (key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      close();
    }
  };

  return h('div', { class: 'palette' },
    h('input', {
      type: 'text', role: 'combobox', autofocus: true, value: typed, autocomplete: 'off', autocapitalize: 'off', spellcheck: false,
      'aria-label': only ? 'An act' : 'A page, a ticket, an agent or an act', placeholder: only ? 'Do…' : 'Go to a page, a ticket, an agent, or do…',
      'aria-expanded': 'true', 'aria-controls': 'palette-list', 'aria-activedescendant': found.length ? `palette-${chosen}` : undefined, onKeyDown,
      onInput: (/** @type {Event & {currentTarget: HTMLInputElement}} */ event) => {
        setTyped(event.currentTarget.value);
        setAt(0);
      },
    }),
    h('ul', { id: 'palette-list', role: 'listbox', 'aria-label': 'What fits', ref: list }, found.map((entry, n) => h('li', {
      key: `${entry.kind} ${entry.id} ${entry.title} ${entry.note ?? ''}`, id: `palette-${n}`, role: 'option', 'aria-selected': String(n === chosen),
      onPointerMove: () => n !== chosen && setAt(n), onClick: () => close(entry),
    },
    h('span', { class: 'palette-kind' }, KINDS[entry.kind]),
    (entry.kind === 'ticket' || /^[\w.-]+$/u.test(entry.id)) && !NO_ID.has(entry.kind) && h(Outside, { class: 'id', text: entry.id }),
    h(Outside, { class: 'palette-title', text: entry.title }),
    entry.note && h('span', { class: 'dim' }, h(Outside, { text: entry.note })),
    entry.keys && h(KeyNames, { keys: entry.keys })))),
    found.length === 0 && h('p', { class: 'dim palette-none' }, 'Nothing fits.'));
};

/** What the server finds, once nothing was typed for a moment. @param {string} typed @returns {Entry[]} */
const useHits = typed => {
  const [hits, setHits] = useState(/** @type {Entry[]} */ ([]));
  const words = typed.trim();
  useEffect(() => {
    setHits([]);
    if (words.length < ASKED) return undefined;
    const abort = new AbortController();
    const timer = setTimeout(() => get(`${path('r', repo.peek() ?? '', 'search')}?q=${encodeURIComponent(words)}`, abort.signal).then(
      ({ hits: all }) => setHits(all.map((/** @type {any} */ hit) => ({
        kind: hit.kind, id: hit.ticket ?? hit.link, run: () => go(`${at()}${hit.link.replace(/^\/+/, '')}`),
        // Of a ticket its title says what it is, of the others what was found.
        ...(hit.kind === 'ticket' ? { title: hit.title, note: hit.excerpt } : { title: hit.excerpt, note: hit.title }),
      }))),
      // What the page knows itself is found all the same.
      () => undefined,
    ), 250);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [words]);
  return hits;
};

/** An id that the page does not know may be one of the archive. @param {string} typed @param {Entry[]} found */
const withId = (typed, found) => {
  const id = typed.trim();
  if (!/^[\w.-]*-\w+$/u.test(id) || found.some(entry => entry.id === id)) return found;
  return [...found, /** @type {Entry} */ ({ kind: 'ticket', id, title: 'look in the archive', run: () => go(at('t', id)) })];
};

/** @type {Record<string, string>} */
const NAMES = { ArrowDown: '↓', ArrowUp: '↑', PageDown: 'PgDn', PageUp: 'PgUp', Escape: 'Esc' };

/** @param {{keys: string}} props */
const KeyNames = ({ keys }) => h('span', { class: 'key-names' }, keys.split(' ').map((name, n) =>
  h('kbd', { key: n }, name.startsWith('ctrl+') ? `Ctrl-${name.slice(5).toUpperCase()}` : (NAMES[name] ?? name))));

/** The keys of each act: several may do the same. @param {Binding[]} all @returns {[string, string[]][]} */
const byLabel = all => {
  /** @type {Map<string, string[]>} */
  const keys = new Map();
  for (const it of all) keys.set(it.label, [...(keys.get(it.label) ?? []), it.key]);
  return [...keys];
};

/** Show all keys. */
export const openHelp = () => {
  if (isAsking()) return;
  const here = counting([...everywhere.all, ...bindings.peek()], true);
  const groups = [...new Set(here.map(it => it.group ?? 'On this page'))];
  groups.sort((a, b) => Number(b === 'On this page') - Number(a === 'On this page'));
  ask('Keys', close => h('div', { class: 'help' },
    h('h2', null, 'Keys'),
    !prefs.value.keys && h('p', { class: 'notice' }, 'Single letters are switched off on the page Device.'),
    h('div', { class: 'help-groups' }, groups.map(group => h('section', { key: group },
      h('h3', null, group),
      h('dl', null, byLabel(here.filter(it => (it.group ?? 'On this page') === group)).map(([label, keys]) => [
        h('dt', { key: `${label} keys` }, keys.map(key => h(KeyNames, { key, keys: key }))), h('dd', { key: label }, label)]))))),
    h('p', { class: 'dim' }, 'They never count in a field, nor while an input method is composing.'),
    h('div', { class: 'dialog-acts' }, h('button', { type: 'button', class: 'main', autofocus: true, onClick: () => close() }, 'Close'))));
};
