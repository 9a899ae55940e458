// The agents: what each does, for how long, on what, at what cost; beside it, in a wide window, the chosen one's output.
import { h, useEffect, useRef } from '../h.js';
import { cost, short } from '../format.js';
import { at, go, route } from '../router.js';
import { docs, orders } from '../store.js';
import { several } from '../words.js';
import { SpawnAct } from '../ui/agent_acts.js';
import { AgentDetail, NoAgent, doingOf } from '../ui/agent_detail.js';
import { Empty } from '../ui/empty.js';
import { PageHead } from '../ui/head.js';
import { List } from '../ui/list.js';
import { useWide } from '../ui/media.js';
import { Outside, Said } from '../ui/outside.js';
import { AgentState } from '../ui/state.js';
import { Age } from '../ui/time.js';
import '../style.js';

export const Page = () => {
  const wide = useWide();
  const named = route.value.page === 'agent' ? (route.value.params[0] ?? '') : null;
  const before = useRef(named);
  useEffect(() => {
    // In a narrow window it is another page: the focus goes to its heading.
    if (before.current !== named && !wide) document.querySelector('h1')?.focus({ preventScroll: true });
    before.current = named;
  }, [named]);
  if (!wide) return named === null ? h('div', { class: 'pane' }, h(Agents, { current: null })) : h(One, { name: named });
  // Nobody was chosen: the first that works is shown, since its output goes on.
  const keys = orders.agents.value;
  const shown = named ?? keys.find(key => docs.agent.value.get(key)?.running) ?? keys[0] ?? null;
  return h('div', { class: 'split agents-page' },
    h('div', { class: 'pane master' }, h(Agents, { current: shown })),
    shown !== null && h(One, { key: shown, name: shown, beside: true }));
};

/** @param {{current: string | null}} props */
const Agents = ({ current }) => {
  const agents = docs.agent.value;
  const working = [...agents.values()].filter(agent => agent.running).length;
  return [
    h(PageHead, { title: 'Agents', beside: agents.size > 0 && `${working} of ${agents.size} at work`, key: 'head' }, h(SpawnAct, null)),
    h(List, {
      key: 'list', label: 'Agents', class: 'agents', columns: ['State', 'Agent', 'Ticket', 'Step', 'For', 'Tokens', 'Cost'],
      keys: orders.agents.value, docs: agents, current, cells, tone: (/** @type {any} */ agent) => `agent-${agent.state}`,
      empty: h(Empty, { title: 'There are no agents yet.', symbol: '○', type: ['crew spawn 3'] },
        'An engine spawns them from crew.toml, or you do.'),
    }),
  ];
};

/** @param {any} agent An `Agent`: `h` does not pass the type of a list's documents on. */
const cells = agent => [
  h(AgentState, { agent }),
  h('a', { class: 'open', href: at('a', agent.name) }, h(Outside, { text: agent.name })),
  h('div', { class: 'agent-work' },
    agent.ticket
      ? h('span', { class: 'agent-ticket' }, h('a', { href: at('t', agent.ticket) }, h(Outside, { class: 'id', text: agent.ticket })), ' ', h(Outside, { text: agent.title }))
      : h('span', { class: 'dim' }, agent.totals.landed ? several(agent.totals.landed, 'one ticket landed', '# tickets landed') : 'no ticket yet'),
    doingOf(agent) && h('span', { class: `agent-doing-line ${agent.quiet || agent.failing.length || agent.errors ? 'waiting' : 'dim'}` }, h(Said, { text: doingOf(agent) }))),
  h('span', { class: 'dim' }, agent.step === 0 && !agent.running ? '' : agent.max_steps ? `${agent.step}/${agent.max_steps}` : String(agent.step)),
  h(Age, { since: agent.since, class: 'dim' }),
  h('span', { class: 'dim' }, agent.usage.input_tokens + agent.usage.output_tokens > 0 ? short(agent.usage.input_tokens + agent.usage.output_tokens) : ''),
  h('span', null, cost(agent.ticket ? agent.usage : agent.totals.usage)),
];

/** @param {{name: string, beside?: boolean}} props */
const One = ({ name, beside = false }) => {
  const agent = docs.agent.value.get(name);
  const title = h(Outside, { text: name });
  return h('div', { class: `pane detail${beside ? '' : ' alone'}`, role: beside ? 'region' : undefined, 'aria-label': beside ? `Agent ${name}` : undefined },
    beside
      ? h('h2', { class: 'detail-head' }, title, route.value.page === 'agent' && h('button', { type: 'button', class: 'quiet small', onClick: () => go(at('agents')) }, 'Close'))
      : h(PageHead, { title, name, back: at('agents') }),
    agent ? h(AgentDetail, { agent }) : h(NoAgent, { name }));
};
