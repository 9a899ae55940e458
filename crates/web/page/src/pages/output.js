// The output of a ticket's runs: its steps, reviews and checks, one after the other.
import { h } from '../h.js';
import { path } from '../api.js';
import { useKeys } from '../keymap.js';
import { at, query, repo, route } from '../router.js';
import { docs } from '../store.js';
import { Empty, Failed, Loading } from '../ui/empty.js';
import { TicketHead } from './ticket_head.js';
import { OutputView } from '../ui/output.js';
import { Moment } from '../ui/time.js';
import { useGet } from '../ui/use_get.js';
import '../style.js';

/** @typedef {import('../types').Run} Run */

const KINDS = { step: 'step', check: 'check', review: 'review', set_up: 'set-up' };

/** What a run is, and which kind where its title does not say so. @param {Run} run */
const titleOf = ({ run, title, kind }) => {
  const word = KINDS[kind] ?? kind;
  return !title ? `${run} (${word})` : title.includes(word) ? title : `${title} (${word})`;
};

export const Page = () => {
  const { params: [id = ''], query: words, hash } = route.value;
  const ticket = docs.ticket.value.get(id);
  // Its runs change when its state or its step does.
  const { data, problem, retry } = useGet(path('r', repo.value ?? '', 'tickets', id), [ticket?.state, ticket?.step, ticket?.since]);
  /** @type {Run[]} */
  const runs = data?.runs ?? [];
  const asked = words.get('run');
  const shown = asked ?? runs.at(-1)?.run ?? null;
  const place = runs.findIndex(it => it.run === shown);
  const from = /^L?\d+$/.test(hash) ? Number(hash.replace('L', '')) : null;
  /** @param {number} to */
  const go = to => runs[to] && query({ run: runs[to].run });
  useKeys([
    { key: '[', label: 'the run before', run: () => go(place - 1) },
    { key: ']', label: 'the next run', run: () => go(place + 1) },
  ], [place, runs.length]);

  return h('div', { class: 'output-page' },
    h(TicketHead, { id, tab: 'output', ticket: data?.ticket }),
    runs.length > 0 && h('div', { class: 'runs' },
      h('button', { type: 'button', class: 'small', 'aria-keyshortcuts': '[', 'aria-label': 'The run before', 'aria-disabled': String(place <= 0), onClick: () => go(place - 1) }, '‹'),
      h('label', null, h('span', { class: 'unseen' }, 'Run'),
        h('select', { value: shown ?? '', onChange: (/** @type {Event & {currentTarget: HTMLSelectElement}} */ event) => query({ run: event.currentTarget.value }) },
          place < 0 && shown && h('option', { value: shown }, shown),
          runs.map(run => h('option', { key: run.run, value: run.run }, titleOf(run))))),
      h('button', { type: 'button', class: 'small', 'aria-keyshortcuts': ']', 'aria-label': 'The next run', 'aria-disabled': String(place < 0 || place >= runs.length - 1), onClick: () => go(place + 1) }, '›'),
      runs[place]?.since && h('span', { class: 'dim' }, h(Moment, { at: runs[place].since }))),
    problem && !shown && h(Failed, { problem, retry }),
    !data && !problem && !shown && h(Loading, { rows: 8 }),
    data && runs.length === 0 && !asked && h(Empty, { title: 'Nothing has run for it yet.', symbol: '○' }, h('a', { href: at('t', id) }, 'The ticket')),
    shown && h(OutputView, { key: `${shown} ${from}`, run: shown, from, label: `Output of ${shown}` }));
};
