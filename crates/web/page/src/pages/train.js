// The merge train: what lands next, what is checked, what waits for what, what landed, and where the time went.
import { h, useEffect, useState } from '../h.js';
import { path } from '../api.js';
import { cost, oid, span } from '../format.js';
import { at, repo } from '../router.js';
import { docs, now, orders, repository } from '../store.js';
import { several } from '../words.js';
import { Gantt } from '../plots/gantt.js';
import { Empty, Failed, Loading } from '../ui/empty.js';
import { PageHead } from '../ui/head.js';
import { OutputView } from '../ui/output.js';
import { Outside, Said } from '../ui/outside.js';
import { Age, Moment } from '../ui/time.js';
import { useGet } from '../ui/use_get.js';
import '../style.js';

/** @typedef {import('../types').TrainEntry} Entry */
/** @typedef {import('../types').Landed} Landed */

/** How the checks of an entry stand: sign, tone, words. @type {Record<string, [string, string, string]>} */
const TRIALS = {
  untried: ['·', 'dim', 'not checked yet'], running: ['◍', 'moving', 'checking'], passed: ['✓', 'good', 'passed'], failed: ['✗', 'wrong', 'failed'],
};

export const Page = () => {
  const spans = useSpans();
  return h('div', { class: 'pane train-page' },
    h(PageHead, { title: 'Train', beside: h(Sum, null) }),
    h('div', { class: 'train-grid' }, h(Line, { usual: spans.data?.usual_check_ms ?? null }), h(Landings, null), h(Times, spans)));
};

/** Where the time went: read anew when something came to stand otherwise, at most every five seconds. */
const useSpans = () => {
  const stands = `${orders.train.value.join()} ${orders.landed.value[0]} ${[...docs.agent.value.values()].map(it => `${it.state}${it.ticket}`).join()}`;
  const [of, setOf] = useState(stands);
  useEffect(() => {
    if (of === stands) return undefined;
    const timer = setTimeout(() => setOf(stands), 5_000);
    return () => clearTimeout(timer);
  }, [of === stands, of]);
  return useGet(path('r', repo.value ?? '', 'spans'), [of]);
};

const Sum = () => {
  const count = orders.train.value.length;
  const target = repository.value?.target;
  return [count ? several(count, 'one ticket on its way', '# tickets on their way') : 'nothing is on its way', target && [' to ', h('code', { key: 'target' }, h(Outside, { text: target }))]];
};

/**
 * The entries in the order in which they land, then those that wait for a place.
 * @param {{usual: number | null}} props `usual`: how long the checks of a ticket usually take, in ms.
 */
const Line = ({ usual }) => {
  const entries = orders.train.value.flatMap(key => docs.train.value.get(key) ?? []);
  const inTrain = entries.filter(entry => entry.place !== null);
  const waits = entries.filter(entry => entry.place === null);
  return h('section', { class: 'card train-line', 'aria-labelledby': 'lands-next' },
    h('h2', { id: 'lands-next' }, 'Lands next', usual !== null && h('span', { class: 'beside' }, `checks usually take ${usual < 1_000 ? 'less than 1s' : span(usual)}`)),
    entries.length === 0 && h(Empty, { title: 'The train is empty.', symbol: '○' }, 'Work that an agent submits stands here until it has landed.'),
    inTrain.length > 0 && h('ol', { class: 'entries' }, inTrain.map(entry => h(One, { key: entry.ticket, entry }))),
    waits.length > 0 && h('h3', null, several(waits.length, 'One waits for a place', '# wait for a place')),
    waits.length > 0 && h('ul', { class: 'entries' }, waits.map(entry => h(One, { key: entry.ticket, entry }))));
};

/** @param {{entry: Entry}} props */
const One = ({ entry }) => {
  const [sign, tone, word] = TRIALS[entry.trial ?? ''] ?? ['◌', 'waiting', null];
  return h('li', { class: 'entry', 'data-row': entry.ticket },
    h('span', { class: 'entry-place', 'aria-label': entry.place === null ? 'no place yet' : `place ${entry.place}` }, entry.place ?? '–'),
    h('span', { class: `entry-sign ${tone}`, 'aria-hidden': 'true' }, sign),
    h('div', { class: 'entry-body' },
      h('p', { class: 'entry-head' },
        h('a', { href: at('t', entry.ticket), class: 'entry-name' }, h(Outside, { class: 'id', text: entry.ticket }), ' ', h(Outside, { text: entry.title })),
        h('a', { href: at('a', entry.agent), class: 'dim' }, h(Outside, { text: entry.agent }))),
      h('p', { class: 'entry-state' }, h('span', { class: tone }, h(Outside, { text: entry.state })), ' ', h(Age, { since: entry.since, class: 'dim' }),
        word && word !== entry.state && h('span', { class: 'dim' }, ` · ${word}`),
        entry.what && [' · ', h(Said, { text: entry.what })]),
      h('p', { class: 'entry-merge dim' },
        entry.commit
          ? ['on ', entry.on ? h('a', { href: at('t', entry.on) }, h(Outside, { class: 'id', text: entry.on })) : h(Outside, { text: repository.value?.target ?? 'the target' }), ' → ', h('code', { title: entry.commit }, oid(entry.commit)), entry.slot !== null && ` · checkout ${entry.slot}`]
          : entry.on ? ['behind ', h('a', { href: at('t', entry.on) }, h(Outside, { class: 'id', text: entry.on }))] : null),
      (entry.trial === 'running' || entry.trial === 'failed') && h(Check, { id: entry.ticket, since: entry.since }),
      entry.uncoupled && h('p', { class: 'entry-merge waiting' }, 'taken out ', entry.uncoupled_at && [h(Age, { since: entry.uncoupled_at }), ' ago: '], h(Said, { text: entry.uncoupled }))));
};

/** What the check of an entry prints, once somebody looks. @param {{id: string, since: string}} props */
const Check = ({ id, since }) => {
  const [open, setOpen] = useState(false);
  return h('details', {
    class: 'entry-check', open,
    onToggle: (/** @type {Event & {currentTarget: HTMLDetailsElement}} */ event) => setOpen(event.currentTarget.open),
  }, h('summary', null, 'What its check prints'), open && h(Printed, { id, since }));
};

/** @param {{id: string, since: string}} props */
const Printed = ({ id, since }) => {
  const { data, problem, retry } = useGet(path('r', repo.value ?? '', 'tickets', id), [since]);
  if (!data) return problem ? h(Failed, { problem, retry }) : h(Loading, { rows: 3 });
  const check = data.runs.findLast((/** @type {import('../types').Run} */ run) => run.kind === 'check');
  return check ? h(OutputView, { key: check.run, run: check.run, label: `Check of ${id}`, part: true }) : h('p', { class: 'dim' }, 'It has printed nothing yet.');
};

/** The latest landings. */
const Landings = () => {
  const landed = orders.landed.value.flatMap(key => docs.landed.value.get(key) ?? []).slice(0, 50);
  return h('section', { class: 'card landings', 'aria-labelledby': 'landed' },
    h('h2', { id: 'landed' }, 'Landed'),
    landed.length === 0
      ? h(Empty, { title: 'Nothing has landed yet.', symbol: '○' })
      : h('ol', { class: 'landed' }, landed.map((/** @type {Landed} */ it) => h('li', { key: it.ticket },
        h('span', { class: 'good', 'aria-hidden': 'true' }, '✓'),
        h('a', { href: at('t', it.ticket) }, h(Outside, { class: 'id', text: it.ticket }), ' ', h(Outside, { text: it.title })),
        h('span', { class: 'dim landed-by' }, it.agent && h(Outside, { text: it.agent })),
        h('code', { class: 'dim', title: it.commit }, oid(it.commit)),
        h('span', { class: 'dim number' }, cost(it.usage)),
        h(Moment, { at: it.at, class: 'dim number' })))));
};

/** The Gantt. @param {ReturnType<typeof useGet>} props */
const Times = ({ data, problem, retry }) => {
  const rounded = Math.floor(now.value / 5_000) * 5_000;
  return h('section', { class: 'card times' },
    problem && h(Failed, { problem, retry }),
    !data && !problem && h(Loading, { rows: 6 }),
    data && data.rows.length === 0 && h(Empty, { title: 'Nothing was at work in the last 24 hours.', symbol: '○' }),
    data && data.rows.length > 0 && h(Gantt, { rows: data.rows, now: Math.max(rounded, Date.parse(data.until)), since: Date.parse(data.since) }));
};
