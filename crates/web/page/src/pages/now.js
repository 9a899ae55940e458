// How everything stands, on one page.
import { h } from '../h.js';
import { at } from '../router.js';
import { docs, inbox, now, orders, state } from '../store.js';
import { snoozeOf, waiting } from '../snooze.js';
import { money, moment } from '../format.js';
import { urgencyTone, words } from '../words.js';
import { Empty } from '../ui/empty.js';
import { PageHead } from '../ui/head.js';
import { Outside, Said } from '../ui/outside.js';
import { useStill } from '../ui/still.js';
import { AgentState, ItemKind, State } from '../ui/state.js';
import { Age, Moment } from '../ui/time.js';

/** @typedef {import('../types').Children} Children */

/** @param {{title: string, to: string, beside?: Children, class?: string, children?: Children}} props */
const Card = ({ title, to, beside, children, ...rest }) => h('section', { class: `card ${rest.class ?? ''}`, 'aria-label': title },
  h('h2', null, h('a', { href: to }, title), beside && h('span', { class: 'beside' }, beside)), children);

/** The first that wait. */
const Waiting = () => {
  const keys = inbox.value.filter(item => !snoozeOf(item)).map(item => item.id);
  const snoozed = inbox.value.length - keys.length;
  const { rows, still } = useStill(keys.slice(0, 5), docs.item.value);
  return h(Card, {
    title: 'Needs you', to: at('inbox'), class: 'now-inbox',
    beside: keys.length > 5 || snoozed > 0
      ? h('a', { href: at('inbox') }, `${keys.length > 5 ? 'all ' : ''}${keys.length}${snoozed > 0 ? `, ${snoozed} snoozed` : ''}`)
      : waiting.value || null,
  },
  rows.length === 0
    ? h('p', { class: 'quiet-line' }, h('span', { class: 'good', 'aria-hidden': 'true' }, '✓ '), words.nothingWaits)
    : h('ul', { class: 'rows', ...still }, rows.map(({ key, doc: item, gone }) => h('li', { key, class: `urgent-${urgencyTone(item.urgency)} ${gone ? 'gone' : ''}` },
      h('div', { class: 'row-top' }, h(ItemKind, { item }),
        item.agent && h('span', { class: 'dim' }, h(Outside, { text: item.agent })),
        h(Age, { since: item.since, class: 'dim end' })),
      h('a', { href: at('inbox', item.id), class: 'open' }, item.ticket && h('span', { class: 'id' }, item.ticket, ' '), h(Outside, { text: item.title }))))));
};

/** The agents: what each does. */
const Agents = () => {
  const keys = orders.agents.value;
  const { rows, still } = useStill(keys.slice(0, 12), docs.agent.value);
  return h(Card, { title: 'Agents', to: at('agents'), class: 'now-agents', beside: keys.length || null },
    keys.length === 0
      ? h(Empty, { title: 'There are no agents.', type: ['crew spawn 3'] }, 'They are made when the engine starts, or by hand.')
      : h('ul', { class: 'rows', ...still }, rows.map(({ key, doc: agent, gone }) =>
        h('li', { key, class: gone ? 'gone' : '' },
          h('div', { class: 'row-top' },
            h('a', { href: at('a', key), class: 'open name' }, h(Outside, { text: key })),
            h(AgentState, { agent }),
            agent.ticket && h('a', { href: at('t', agent.ticket), class: 'id' }, agent.ticket),
            agent.step > 0 && h('span', { class: 'dim' }, agent.max_steps ? `${agent.step}/${agent.max_steps}` : `step ${agent.step}`),
            h(Age, { since: agent.since, class: 'dim end' })),
          (agent.says || agent.title) && h('div', { class: 'row-more dim' }, h(agent.says ? Said : Outside, { text: agent.says || agent.title }))))));
};

/** What lands next. */
const Train = () => {
  const keys = orders.train.value;
  const { rows, still } = useStill(keys.slice(0, 5), docs.train.value);
  return h(Card, { title: 'Lands next', to: at('train'), class: 'now-train', beside: keys.length || null },
    keys.length === 0
      ? h('p', { class: 'quiet-line dim' }, 'Nothing is on its way to the target.')
      : h('ul', { class: 'rows', ...still }, rows.map(({ key, doc: entry, gone }) =>
        h('li', { key, class: gone ? 'gone' : '' },
          h('div', { class: 'row-top' },
            h('span', { class: 'place dim' }, entry.place ?? '·'),
            h(State, { sign: entry.state === 'landing' ? 'landing' : entry.trial === 'failed' ? 'wrong' : entry.state === 'queued' ? 'queued' : 'verifying', symbol: entry.state === 'queued' ? '◌' : '◍', word: entry.state }),
            h(Age, { since: entry.since, class: 'dim end' })),
          h('a', { href: at('t', key), class: 'open' }, h('span', { class: 'id' }, key, ' '), h(Outside, { text: entry.title })),
          entry.what && h('div', { class: 'row-more dim' }, h(Said, { text: entry.what }))))));
};

/** Landings by the hour. @param {{hours: number[]}} props */
const Spark = ({ hours }) => {
  const most = Math.max(1, ...hours);
  const last = Math.floor(now.peek() / 3_600_000);
  return h('svg', { viewBox: `0 0 ${hours.length * 4} 20`, class: 'spark', preserveAspectRatio: 'none', role: 'img', 'aria-label': `Landed by the hour over 24 hours: ${hours.join(', ')}` },
    hours.map((n, at) => h('rect', {
      key: at, x: at * 4 + 0.5, width: 3, y: n ? 20 - (n / most) * 19 : 19, height: n ? (n / most) * 19 : 1, class: n ? '' : 'none',
    }, h('title', null, `${moment((last - hours.length + 1 + at) * 3_600_000)}: ${n}`))));
};

/** What has landed. */
const Landed = () => {
  const it = state.value;
  const { rows, still } = useStill(orders.landed.value.slice(0, 4), docs.landed.value);
  return h(Card, { title: 'Landed today', to: at('train'), class: 'now-landed' },
    h('p', { class: 'figure' }, it?.landed_today ?? 0, h('span', { class: 'dim' }, ' in the last 24 h by the hour')),
    it && h(Spark, { hours: it.landings_by_hour }),
    h('ul', { class: 'rows slim', ...still }, rows.map(({ key, doc: landed }) =>
      h('li', { key },
        h('div', { class: 'row-top' },
          h('a', { href: at('t', landed.ticket), class: 'open clip' }, h('span', { class: 'id' }, landed.ticket, ' '), h(Outside, { text: landed.title })),
          h(Moment, { at: landed.at, class: 'dim end' }))))));
};

/** What was paid today, of what may be. */
const Cost = () => {
  const it = state.value;
  if (!it) return null;
  const budget = it.budget_per_day;
  const part = budget ? it.paid_today / budget : 0;
  return h(Card, { title: 'Cost today', to: at('cost'), class: 'now-cost', beside: ['in all ', money(it.paid_in_all)] },
    h('p', { class: 'figure' }, money(it.paid_today), budget && h('span', { class: 'dim' }, ` of ${money(budget)}`)),
    budget && h('div', { class: `bar-meter ${part >= 1 ? 'wrong' : part > 0.8 ? 'waiting' : 'good'}`, role: 'meter', 'aria-label': 'Of the day’s budget', 'aria-valuemin': 0, 'aria-valuemax': 100, 'aria-valuenow': Math.round(part * 100) },
      h('div', { style: { width: `${Math.min(100, part * 100)}%` } })),
    h('p', { class: 'dim small-line' }, 'A day of cost is a day of UTC.'));
};

/** The tickets in numbers. */
const Counts = () => {
  const it = state.value;
  const none = it && Object.values(it.counts).every(n => n === 0);
  return h(Card, { title: 'Tickets', to: at('tickets'), class: 'now-counts' },
    none
      ? h(Empty, { title: 'There are no tickets yet.', type: ['crew ticket create "Add a login page"', 'crew run'] }, 'Write the first one, then start the engine.')
      : h('ul', { class: 'counts-line' }, (it?.count_words ?? []).map(count => {
        const [n, ...rest] = count.split(' ');
        return h('li', { key: count }, h('b', null, h(Outside, { text: n })), ' ', h('span', { class: 'dim' }, h(Outside, { text: rest.join(' ') })));
      })));
};

export const Page = () => h('div', { class: 'pane' },
  h(PageHead, { title: 'Now', class: 'unseen-wide' }),
  h('div', { class: 'now pad' },
    h('div', null, h(Waiting, null), h(Counts, null)),
    h('div', null, h(Agents, null)),
    h('div', null, h(Train, null), h(Landed, null), h(Cost, null))));
