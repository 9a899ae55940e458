// What work has cost: today's budget, by day, and by agent, ticket or step.
import { h } from '../h.js';
import { path } from '../api.js';
import { cost, money, number, short } from '../format.js';
import { at, query, repo, route } from '../router.js';
import { now, state } from '../store.js';
import { several } from '../words.js';
import { Bars } from '../plots/bars.js';
import { save } from '../plots/figure.js';
import { daysBetween, toCsv } from '../plots/scale.js';
import { Empty, Failed, Loading } from '../ui/empty.js';
import { PageHead } from '../ui/head.js';
import { Outside } from '../ui/outside.js';
import { useGet } from '../ui/use_get.js';
import '../style.js';

/** @typedef {import('../types').Cost} Cost */
/** @typedef {import('../types').CostLine} CostLine */

const DAY = 86_400_000;
/** The agents that have a colour of their own; what is left is “others”. */
const MOST_AGENTS = 6;
/** The most rows of a table. */
const MOST_ROWS = 200;

/** Periods: the word in the address, the words, days. @type {[string, string, number | null][]} */
const PERIODS = [['7d', '7 days', 7], ['30d', '30 days', 30], ['90d', '90 days', 90], ['all', 'all', null]];
/** @type {[string, string][]} */
const KINDS = [['ticket', 'by ticket'], ['agent', 'by agent'], ['step', 'by step']];

export const Page = () => {
  const words = route.value.query;
  const period = PERIODS.find(([word]) => word === words.get('period')) ?? PERIODS[1];
  const by = KINDS.find(([word]) => word === words.get('by'))?.[0] ?? 'ticket';
  const since = period[2] === null ? null : sinceOf(period[2]);
  const today = Math.floor(now.value / DAY);
  // Read anew when something was paid.
  const paid = state.value?.paid_in_all ?? 0;
  return h('div', { class: 'pane cost-page' },
    h(PageHead, { title: 'Cost', beside: 'days are of UTC' },
      h('div', { class: 'segments', role: 'group', 'aria-label': 'Period' }, PERIODS.map(([word, label]) =>
        h('button', { key: word, type: 'button', 'aria-pressed': String(word === period[0]), onClick: () => query({ period: word }) }, label)))),
    h('div', { class: 'cost-grid' },
      h(Today, null),
      h(ByDay, { since, until: new Date(today * DAY).toISOString().slice(0, 10), paid, words: period[1] }),
      h(Sums, { by, since, paid })));
};

/** The beginning of the UTC day that is so many days back, today included. @param {number} days */
const sinceOf = days => `${new Date((Math.floor(now.value / DAY) - days + 1) * DAY).toISOString().slice(0, 10)}T00:00:00Z`;

/** What was paid today, of the day's budget. */
const Today = () => {
  const it = state.value;
  if (!it) return null;
  const { paid_today: paid, budget_per_day: budget, paid_in_all: all, pause } = it;
  return h('section', { class: 'card cost-today', 'aria-labelledby': 'today' },
    h('h2', { id: 'today' }, 'Today'),
    h('p', { class: 'cost-sum' }, h('b', null, money(paid)), budget !== null && h('span', { class: 'dim' }, ` of ${money(budget)}`)),
    budget !== null && h('meter', {
      class: 'meter', min: 0, max: budget, value: Math.min(paid, budget), high: budget * 0.8, optimum: 0, 'aria-label': 'Part of the day’s budget',
    }, `${Math.round((paid / Math.max(1, budget)) * 100)} %`),
    budget === null && h('p', { class: 'dim' }, 'No budget for a day is set.'),
    pause && h('p', { class: 'waiting' }, h(Outside, { text: pause.says })),
    h('dl', { class: 'facts' },
      h('dt', null, 'In all'), h('dd', null, money(all)),
      h('dt', null, 'Landed today'), h('dd', null, number(it.landed_today))));
};

/** @param {{since: string | null, until: string, paid: number, words: string}} props */
const ByDay = ({ since, until, paid, words }) => {
  const call = `${path('r', repo.value ?? '', 'cost')}?${since ? `since=${encodeURIComponent(since)}&` : ''}`;
  const agents = useGet(`${call}by=agent`, [paid]);
  const days = useGet(`${call}by=day`, [paid]);
  const names = (agents.data?.lines ?? []).slice(0, MOST_AGENTS).map((/** @type {CostLine} */ line) => line.agent ?? '');
  return h('section', { class: 'card cost-days' },
    days.problem && h(Failed, { problem: days.problem, retry: days.retry }),
    !days.data && !days.problem && h(Loading, { rows: 5 }),
    days.data && agents.data && (days.data.lines.length === 0
      ? h(Empty, { title: 'No step has ended in this time.', symbol: '○' })
      : h(Days, { key: names.join(), call, names, days: days.data, until, since, paid, words, more: agents.data.lines.length > names.length })));
};

/** The bars: of each agent one call, since the server adds up, not the page.
 * @param {{call: string, names: string[], days: Cost, until: string, since: string | null, paid: number, words: string, more: boolean}} props */
const Days = ({ call, names, days, until, since, paid, words, more }) => {
  const parts = names.map(name => useGet(`${call}by=day&agent=${encodeURIComponent(name)}`, [paid]).data);
  const of = (/** @type {Cost | null} */ it) => new Map((it?.lines ?? []).map(line => [line.day ?? '', line]));
  const [all, each] = [of(days), parts.map(of)];
  // A repository that is young begins with its first week: nothing was paid before.
  const weekAgo = new Date(Date.parse(`${until}T00:00:00Z`) - 6 * DAY).toISOString().slice(0, 10);
  const young = [days.lines[0]?.day ?? until, weekAgo].sort()[0] ?? until;
  const firstDay = since && since.slice(0, 10) > young ? since.slice(0, 10) : young;
  const isWhole = names.length > 1 && parts.every(Boolean);
  const bars = daysBetween(firstDay, until > firstDay ? until : firstDay).map(day => {
    const line = all.get(day);
    const own = isWhole ? each.map((map, n) => partOf(names[n] ?? '', map.get(day))) : [partOf('all agents', line)];
    const left = (line?.usage.cost_micro_usd ?? 0) - own.reduce((sum, part) => sum + part.value, 0);
    if (isWhole && more) own.push({ name: 'others', value: Math.max(0, left), estimated: 0 });
    return { label: day, parts: own, says: sentence(day, line, own) };
  });
  const budget = state.value?.budget_per_day ?? null;
  return h(Bars, {
    title: `Cost by day in US dollars, ${since && firstDay === since.slice(0, 10) ? `last ${words}` : `since ${firstDay}`}, UTC`,
    bars, file: 'cost-by-day', format: value => money(value), short: day => day.slice(5),
    limit: budget === null ? null : { value: budget, label: `budget of a day ${money(budget)}` },
    facts: {
      head: ['Day', 'Steps', 'Failed', 'Tokens in', 'Out', 'Cost'], numbers: [1, 2, 3, 4, 5],
      rows: days.lines.map(line => [line.day, number(line.steps), number(line.failed), short(line.usage.input_tokens), short(line.usage.output_tokens), cost(line.usage)]).reverse(),
      csvHead: ['day', 'steps', 'failed', 'input_tokens', 'output_tokens', 'cost_micro_usd', 'estimated_micro_usd'],
      csvRows: days.lines.map(({ day, steps, failed, usage }) =>
        [day, steps, failed, usage.input_tokens, usage.output_tokens, usage.cost_micro_usd, usage.estimated_micro_usd ?? 0]),
    },
  });
};

/** @param {string} name @param {CostLine | undefined} line */
const partOf = (name, line) => ({ name, value: line?.usage.cost_micro_usd ?? 0, estimated: line?.usage.estimated_micro_usd ?? 0 });

const dayName = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' });

/** @param {string} day @param {CostLine | undefined} line @param {{name: string, value: number}[]} parts */
const sentence = (day, line, parts) => {
  const name = dayName.format(new Date(`${day}T00:00:00Z`));
  if (!line) return `${name}: nothing.`;
  const paid = parts.filter(part => part.value > 0);
  return `${name}: ${cost(line.usage)}, ${several(line.steps, 'one step', '# steps')}${line.failed ? `, ${line.failed} failed` : ''}`
    + `${paid.length > 1 ? `; ${paid.map(part => `${part.name} ${money(part.value)}`).join(', ')}` : ''}.`;
};

/** @param {{by: string, since: string | null, paid: number}} props */
const Sums = ({ by, since, paid }) => {
  const { data, problem, retry } = useGet(`${path('r', repo.value ?? '', 'cost')}?by=${by}${since ? `&since=${encodeURIComponent(since)}` : ''}`, [paid]);
  /** @type {CostLine[]} */
  const lines = data?.lines ?? [];
  const shown = (by === 'step' ? [...lines].reverse() : lines).slice(0, MOST_ROWS);
  const highest = Math.max(1, ...lines.map(line => line.usage.cost_micro_usd));
  return h('section', { class: 'card cost-sums', 'aria-labelledby': 'sums' },
    h('div', { class: 'plot-head' },
      h('h2', { id: 'sums' }, KINDS.find(([word]) => word === by)?.[1] ?? by),
      h('div', { class: 'plot-tools' },
        h('div', { class: 'segments', role: 'group', 'aria-label': 'Added up' }, KINDS.map(([word, label]) =>
          h('button', { key: word, type: 'button', 'aria-pressed': String(word === by), onClick: () => query({ by: word }) }, label))),
        data && h('button', { type: 'button', class: 'small', onClick: () => csv(by, lines) }, 'CSV'))),
    problem && h(Failed, { problem, retry }),
    !data && !problem && h(Loading, { rows: 6 }),
    data && lines.length === 0 && h(Empty, { title: 'No step has ended in this time.', symbol: '○' }),
    lines.length > 0 && h('div', { class: 'table-scroll', tabIndex: 0, role: 'region', 'aria-label': 'The sums, as a table' },
      h('table', { class: 'fact-table sums' },
        h('thead', null, h('tr', null, head(by), ['Steps', 'Failed', 'In', 'Out'].map(name => h('th', { key: name, scope: 'col', class: 'number' }, name)),
          h('th', { scope: 'col', class: 'number' }, 'Cost'), h('th', { scope: 'col', 'aria-hidden': 'true', class: 'share' }))),
        h('tbody', null, shown.map((line, n) => h('tr', { key: n }, names(by, line), counts(line),
          h('td', { class: 'share', 'aria-hidden': 'true' }, h(Share, { part: line.usage.cost_micro_usd / highest, estimated: line.usage.estimated_micro_usd / highest }))))),
        h('tfoot', null, h('tr', null, h('th', { scope: 'row', colSpan: by === 'step' ? 3 : 1 }, 'Total'), counts(data.total), h('td', { class: 'share' }))))),
    data && h('p', { class: 'dim card-foot' },
      lines.length > shown.length && `${by === 'step' ? 'The latest' : 'The dearest'} ${number(shown.length)} of ${number(lines.length)}; the CSV has all. `,
      data.running > 0 && several(data.running, 'One step runs: it counts when it has ended. ', '# steps run: they count when they have ended. '),
      data.total.usage.estimated_micro_usd > 0 && '~: a part of it is an estimate, since the client named no price.'));
};

/** @param {string} by */
const head = by => (by === 'step' ? ['Step', 'Agent', 'Ended'] : [by === 'agent' ? 'Agent' : 'Ticket']).map(name => h('th', { key: name, scope: 'col' }, name));

/** @param {string} by @param {CostLine} line */
const names = (by, line) => {
  const ticket = line.ticket && h('a', { href: at('t', line.ticket) }, h(Outside, { class: 'id', text: line.ticket }), by === 'ticket' && [' ', h(Outside, { text: line.title })]);
  const agent = line.agent && h('a', { href: at('a', line.agent) }, h(Outside, { text: line.agent }));
  if (by === 'agent') return h('th', { scope: 'row' }, agent || '–');
  if (by === 'ticket') return h('th', { scope: 'row' }, ticket || '–');
  return [
    h('th', { scope: 'row' }, ticket, line.step !== null && ` step ${line.step}`, line.failure && h('span', { class: 'wrong' }, ` ✗ ${line.failure.replaceAll('_', ' ')}`)),
    h('td', null, agent || '–'),
    h('td', null, line.at && h('time', { dateTime: line.at }, line.at.slice(0, 16).replace('T', ' '))),
  ];
};

/** @param {{steps: number, failed: number, usage: import('../types').Usage}} sum */
const counts = sum => [
  h('td', { class: 'number' }, number(sum.steps)),
  h('td', { class: `number${sum.failed ? ' wrong' : ' dim'}` }, sum.failed ? number(sum.failed) : '–'),
  h('td', { class: 'number' }, short(sum.usage.input_tokens)),
  h('td', { class: 'number' }, short(sum.usage.output_tokens)),
  h('td', { class: 'number' }, cost(sum.usage)),
];

/** A bar within a row. @param {{part: number, estimated: number}} props */
const Share = ({ part, estimated }) => h('svg', { class: 'share-bar', width: 96, height: 10, viewBox: '0 0 96 10', 'aria-hidden': 'true' },
  h('rect', { class: 'series-0', width: Math.max(part > 0 ? 1 : 0, 96 * part), height: 10, rx: 1 }),
  estimated > 0 && h('rect', { class: 'series-estimated', x: 96 * (part - estimated), width: 96 * estimated, height: 10 }));

/** @param {string} by @param {CostLine[]} lines */
const csv = (by, lines) => save(`cost-by-${by}.csv`, new Blob([toCsv(
  ['ticket', 'title', 'agent', 'step', 'ended_utc', 'failure', 'steps', 'failed', 'input_tokens', 'output_tokens', 'cost_micro_usd', 'estimated_micro_usd'],
  lines.map(({ ticket, title, agent, step, at: ended, failure, steps, failed, usage }) => [
    ticket, title, agent, step, ended, failure, steps, failed, usage.input_tokens, usage.output_tokens, usage.cost_micro_usd, usage.estimated_micro_usd,
  ]),
)], { type: 'text/csv;charset=utf-8' }));
