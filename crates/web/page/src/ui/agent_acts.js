// What a person does with an agent.
import { h, useState } from '../h.js';
import { Acts, command, confirm, seenOf } from '../acts.js';
import { at } from '../router.js';
import { docs, inbox, orders } from '../store.js';
import { Copy } from './copy.js';
import { ask } from './dialog.js';
import { Said } from './outside.js';

/** @typedef {import('../types').Agent} Agent */

/** @param {{agent: Agent}} props */
export const AgentActs = ({ agent }) => {
  const { name } = agent;
  const subject = `agent ${name}`;
  const waiting = inbox.value.find(item => item.agent === name && item.ticket === agent.ticket);
  /** @type {import('../acts.js').Button[]} */
  const buttons = [];
  if (docs.ticket.value.get(agent.ticket ?? '')?.standing.word === 'sleeps') {
    buttons.push({ verb: 'wake', label: 'Wake', key: 'W', line: `crew wake ${name}`, run: () => command({ command: 'wake', agent: name }, subject) });
  }
  if (agent.ticket) {
    buttons.push({ verb: 'say', label: 'Say…', key: 'y', run: () => say(agent, subject) });
    buttons.push({ verb: 'kill', label: 'Kill…', key: 'K', danger: true, run: () => kill(agent, subject) });
  } else {
    buttons.push({ verb: 'assign', label: 'Assign…', key: 's', run: () => assign(agent, subject) });
  }
  if (agent.role === 'worker' && !agent.running && agent.state !== 'verifying') buttons.push({ verb: 'cleanup', label: 'Clean up…', danger: true, run: () => cleanup(agent, subject) });
  return h('div', { class: 'agent-acts' },
    waiting && h('p', { class: 'notice waiting' }, 'It waits for you: ', h('a', { href: at('inbox', waiting.id) }, h(Said, { text: waiting.why }))),
    h(Acts, { subject, seen: `${name} ${agent.ticket} ${agent.attempt}`, buttons: buttons.map(it => ({ ...it, line: null })) }));
};

/** @param {Agent} agent @param {string} subject */
const say = async ({ name }, subject) => {
  const text = await confirm({
    title: `Say something to ${name}`, says: 'Its next step is told these words. The step that runs goes on.', label: 'What it is told',
    required: true, yes: 'Say', line: `crew say ${name} "…"`,
  });
  if (text) await command({ command: 'say', agent: name, text }, subject);
};

/** @param {Agent} agent @param {string} subject */
const kill = async ({ name, ticket }, subject) => {
  const seen = seenOf({ agent: name });
  const text = await confirm({
    title: `Kill ${name}?`, says: `Its step is stopped. Its work is kept, and ${ticket} is held.`, yes: 'Kill', danger: true, line: `crew kill ${name}`,
  });
  if (text !== undefined) await command({ command: 'kill', agent: name }, subject, seen);
};

/** @param {Agent} agent @param {string} subject */
const cleanup = async ({ name, ticket }, subject) => {
  const seen = seenOf({ agent: name });
  const text = await confirm({
    title: `Clean up after ${name}?`, says: ticket ? `Its workspace is removed. Its work is kept, and ${ticket} is held.` : 'Its workspace is removed, if it has one left.',
    yes: 'Clean up', danger: true, line: `crew cleanup ${name}`,
  });
  if (text !== undefined) await command({ command: 'cleanup', agent: name }, subject, seen);
};

/** @param {Agent} agent @param {string} subject */
const assign = async ({ name }, subject) => {
  const ticket = await ask(`Give ${name} a ticket`, close => h(Assign, { name, close }));
  if (ticket) await command({ command: 'assign', agent: name, ticket }, subject);
};

/** @param {{name: string, close: (ticket?: string) => void}} props */
const Assign = ({ name, close }) => {
  const open = orders.tickets.value.flatMap(id => docs.ticket.value.get(id) ?? []).filter(ticket => ticket.assignable);
  const [chosen, setChosen] = useState(open.find(ticket => ticket.standing.sign === 'ready')?.id ?? open[0]?.id ?? '');
  if (open.length === 0) {
    return h('div', { class: 'dialog-form' }, h('h2', null, `Give ${name} a ticket`), h('p', null, 'No ticket can be given to an agent now: each waits for something, or has one.'),
      h('div', { class: 'dialog-acts' }, h('button', { type: 'button', class: 'main', onClick: () => close() }, 'Close')));
  }
  return h('form', { class: 'dialog-form', onSubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    close(chosen);
  } },
  h('h2', null, `Give ${name} a ticket`),
  h('label', { class: 'field' }, 'The ticket, now and out of turn',
    h('select', { value: chosen, autofocus: true, onChange: (/** @type {Event & {currentTarget: HTMLSelectElement}} */ event) => setChosen(event.currentTarget.value) },
      open.map(ticket => h('option', { key: ticket.id, value: ticket.id }, `${ticket.id}  ${ticket.title}`)))),
  h('div', { class: 'dialog-acts' }, h(Copy, { line: `crew assign ${name} ${chosen}` }),
    h('button', { type: 'button', onClick: () => close() }, 'Cancel'),
    h('button', { type: 'submit', class: 'main' }, 'Assign')));
};

/** More agents: by name, or a number of them. */
export const spawn = async () => {
  const text = await ask('Spawn agents', close => h(Spawn, { close }));
  if (!text) return;
  const isNumber = /^\d+$/.test(text);
  await command(isNumber ? { command: 'spawn_many', count: Number(text) } : { command: 'spawn', name: text }, 'spawn');
};

/** @param {{close: (text?: string) => void}} props */
const Spawn = ({ close }) => {
  const [text, setText] = useState('1');
  const many = /^\d+$/.test(text) ? Number(text) : 0;
  return h('form', { class: 'dialog-form', onSubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    if (text.trim() && text.trim() !== '0') close(text.trim());
  } },
  h('h2', null, 'Spawn agents'),
  h('label', { class: 'field' }, 'How many, or the name of one',
    h('input', { value: text, autofocus: true, required: true, maxLength: 40, autocapitalize: 'off', spellcheck: false,
      // A name that is typed takes the number's place.
      onFocus: (/** @type {Event & {currentTarget: HTMLInputElement}} */ event) => event.currentTarget.select(),
      onInput: (/** @type {Event & {currentTarget: HTMLInputElement}} */ event) => setText(event.currentTarget.value) })),
  h('p', { class: 'dim' }, many > 5 ? `${many} agents work at once, and each costs what its steps cost.` : 'Each takes the next ticket that is ready.'),
  h('div', { class: 'dialog-acts' }, h(Copy, { line: `crew spawn ${text.trim() || '1'}` }),
    h('button', { type: 'button', onClick: () => close() }, 'Cancel'),
    h('button', { type: 'submit', class: 'main' }, 'Spawn')));
};

export const SpawnAct = () => h('div', { class: 'head-acts' }, h(Acts, {
  subject: 'spawn', seen: 'spawn', label: 'Acts for all agents', buttons: [{ verb: 'spawn', label: 'Spawn…', key: 'n', run: spawn }],
}));
