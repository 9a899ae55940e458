// An agent: its ticket, what it waits for or does, what failed, its output as it comes, and what it has worked on.
import { h } from '../h.js';
import { path } from '../api.js';
import { cost, number, short } from '../format.js';
import { at, repo } from '../router.js';
import { several } from '../words.js';
import { AgentActs } from './agent_acts.js';
import { Empty, Failed } from './empty.js';
import { OutputView } from './output.js';
import { Outside, OutsideLines, Said } from './outside.js';
import { AgentState } from './state.js';
import { Age, Moment, Until } from './time.js';
import { useGet } from './use_get.js';

/** @typedef {import('../types').Agent} Agent */

/** The step of an agent in words. @param {Agent} agent */
const stepOf = agent => (agent.step === 0 && !agent.running ? null
  : agent.max_steps ? `step ${agent.step} of ${agent.max_steps}` : `step ${agent.step}`);

/** What it waits for or does, in the server's words. @param {Agent} agent */
export const doingOf = agent => agent.quiet?.says ?? agent.says ?? agent.waits_for ?? agent.setting_up?.command
  ?? agent.activity?.what ?? null;

/** @param {{agent: Agent}} props */
export const AgentDetail = ({ agent }) => h('div', { class: 'agent-detail' },
  h('div', { class: 'agent-line' },
    h(AgentState, { agent }), h('span', { class: 'dim' }, h(Age, { since: agent.since })),
    agent.ticket && h('a', { href: at('t', agent.ticket) }, h(Outside, { class: 'id', text: agent.ticket }), ' ', h(Outside, { text: agent.title })),
    stepOf(agent) && h('span', { class: 'dim' }, stepOf(agent))),
  h(AgentActs, { agent }),
  h(Troubles, { agent }),
  h(Doing, { agent }),
  agent.run
    ? h('div', { class: 'agent-output' }, h(OutputView, { key: agent.run, run: agent.run, label: `Output of ${agent.name}`, part: true }))
    : h('p', { class: 'dim agent-none' }, 'It has printed nothing yet.'),
  h('div', { class: 'agent-more' }, h(Sums, { agent }), h(Past, { name: agent.name, steps: agent.totals.steps })));

/** What goes wrong with it. @param {{agent: Agent}} props */
const Troubles = ({ agent }) => {
  const { failing, failure, errors, quiet } = agent;
  if (failing.length === 0 && !quiet && !failure && errors === 0) return null;
  return h('div', { class: `notice ${agent.state === 'stuck' || failing.length ? 'wrong' : 'waiting'}` },
    quiet && h('p', null, h(Said, { text: quiet.says }), ', silent for ', h(Age, { since: quiet.since }), '.'),
    failing.map(text => h('p', { key: text }, h('span', { class: 'symbol', 'aria-hidden': 'true' }, '! '), h(Said, { text }))),
    failure && h('div', null,
      h('p', null, errors > 0 ? several(errors, 'Its last step failed: ', 'Its last # steps failed; the latest: ') : 'Its service asked it to wait: ',
        h('b', null, h(Outside, { text: failure.class.replaceAll('_', ' ') })),
        failure.until && [', until ', h(Moment, { at: failure.until })]),
      h(OutsideLines, { class: 'dim', text: failure.message })));
};

/** What it does at this moment. @param {{agent: Agent}} props */
const Doing = ({ agent }) => {
  const { activity, setting_up: setUp, progress, waits_for: waitsFor, waits_until: until, says } = agent;
  return h('dl', { class: 'facts agent-doing' },
    waitsFor ? row('Waits for', [h(Said, { text: waitsFor }), until && [', ', h(Until, { until }), ' left at most']])
      : says && !setUp && !activity && row('Now', h(Said, { text: says })),
    setUp && row('Sets up', [h('code', null, h(Outside, { text: setUp.command })), setUp.since && [' for ', h(Age, { since: setUp.since })]]),
    activity && row('Runs', [h('code', null, h(Outside, { text: activity.what })), activity.since && [' for ', h(Age, { since: activity.since })]]),
    progress && row('It reports', [h('q', null, h(Outside, { text: progress.text })), ' ', h('span', { class: 'dim' }, h(Age, { since: progress.at }), ' ago')]));
};

/** @param {{agent: Agent}} props */
const Sums = ({ agent }) => {
  const { usage, totals } = agent;
  return h('section', { class: 'card' }, h('h2', null, 'Used'),
    h('table', { class: 'fact-table' },
      h('thead', null, h('tr', null, ['', 'Steps', 'Tokens in', 'Out', 'Cost'].map((name, n) => h('th', { key: name, scope: 'col', class: n ? 'number' : undefined }, name || h('span', { class: 'unseen' }, 'Over'))))),
      h('tbody', null,
        agent.ticket && sums(agent.attempt ? `attempt ${agent.attempt}` : 'this attempt', Math.max(0, agent.step - (agent.running ? 1 : 0)), usage),
        sums('in all', totals.steps, totals.usage))),
    h('p', { class: 'dim card-foot' }, totals.spawned_at && ['Spawned ', h(Age, { since: totals.spawned_at }), ' ago. '],
      several(totals.landed, 'One ticket landed.', '# tickets landed.'),
      agent.session_number !== null && agent.session_number > 1 && ` Session ${agent.session_number} of this attempt.`));
};

/** @param {string} name @param {number} steps @param {import('../types').Usage} usage */
const sums = (name, steps, usage) => h('tr', null, h('th', { scope: 'row' }, name), h('td', { class: 'number' }, number(steps)),
  h('td', { class: 'number' }, short(usage.input_tokens)), h('td', { class: 'number' }, short(usage.output_tokens)), h('td', { class: 'number' }, cost(usage)));

/** The tickets that it has worked on, by cost: read anew when a step has ended. @param {{name: string, steps: number}} props */
const Past = ({ name, steps }) => {
  const { data, problem, retry } = useGet(`${path('r', repo.value ?? '', 'cost')}?by=ticket&agent=${encodeURIComponent(name)}`, [steps]);
  return h('section', { class: 'card' }, h('h2', null, 'Worked on'),
    problem && h(Failed, { problem, retry }),
    data && data.lines.length === 0 && h('p', { class: 'dim card-foot' }, 'No step of it has ended yet.'),
    data && data.lines.length > 0 && h('table', { class: 'fact-table' },
      h('thead', null, h('tr', null, ['Ticket', 'Steps', 'Cost'].map((it, n) => h('th', { key: it, scope: 'col', class: n ? 'number' : undefined }, it)))),
      h('tbody', null, data.lines.slice(0, 30).map((/** @type {import('../types').CostLine} */ line) => h('tr', { key: line.ticket },
        h('th', { scope: 'row' }, line.ticket ? h('a', { href: at('t', line.ticket) }, h(Outside, { class: 'id', text: line.ticket }), ' ', h(Outside, { text: line.title })) : '–'),
        h('td', { class: 'number' }, number(line.steps)), h('td', { class: 'number' }, cost(line.usage)))))),
    data && data.lines.length > 30 && h('p', { class: 'dim card-foot' }, `The 30 dearest of ${number(data.lines.length)}.`));
};

/** @param {string} name @param {import('../types').Children} value */
const row = (name, value) => [h('dt', null, name), h('dd', null, value)];

/** There is no such agent. @param {{name: string}} props */
export const NoAgent = ({ name }) => h(Empty, { title: 'There is no such agent.', symbol: '∅' },
  h('p', null, h(Outside, { text: name }), ' may have been removed. ', h('a', { href: at('agents') }, 'All agents')));
