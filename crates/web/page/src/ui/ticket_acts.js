// What can be done about a ticket beside what its items in the inbox offer.
import { h, useState } from '../h.js';
import { Acts, command, confirm, questionOfStatus, seenOf, setStatus } from '../acts.js';
import { docs, orders } from '../store.js';
import { verbs } from '../words.js';
import { ask } from './dialog.js';

/** @typedef {import('../types').Ticket} Ticket */
/** @typedef {import('../acts.js').Button} Button */

/**
 * Choose one of some agents.
 * @param {string} title
 * @param {string[]} names
 * @returns {Promise<string | undefined>}
 */
const choose = (title, names) => ask(title, close => h(Choose, { title, names, close }));

/** @param {{title: string, names: string[], close: (name?: string) => void}} props */
const Choose = ({ title, names, close }) => {
  const [name, setName] = useState(names[0] ?? '');
  return h('form', {
    class: 'dialog-form',
    onSubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      close(name);
    },
  },
  h('h2', null, title),
  h('label', { class: 'field' }, 'Agent', h('select', {
    value: name, autofocus: true,
    onChange: (/** @type {Event & {currentTarget: HTMLSelectElement}} */ event) => setName(event.currentTarget.value),
  }, names.map(it => h('option', { key: it, value: it }, it)))),
  h('div', { class: 'dialog-acts' },
    h('button', { type: 'button', onClick: () => close(undefined) }, 'Cancel'),
    h('button', { type: 'submit', class: 'main' }, 'Assign')));
};

/**
 * The acts that its state allows.
 * @param {Ticket} ticket
 * @param {string[]} had Verbs that an item offers already.
 */
export const offered = (ticket, had) => {
  const { id, agent } = ticket;
  const machine = ticket.state.split('/')[0];
  const at = agent ? docs.agent.value.get(agent) : undefined;
  const works = at?.ticket === id && machine === 'in_progress';
  const idle = orders.agents.value.filter(name => docs.agent.value.get(name)?.state === 'idle' && docs.agent.value.get(name)?.role === 'worker');
  /** @type {Button[]} */
  const buttons = [];
  if (ticket.assignable && idle.length > 0) {
    buttons.push({
      verb: 'assign', label: 'Assign…', key: 's', line: `crew assign ${idle.length === 1 ? idle[0] : 'AGENT'} ${id}`,
      run: async () => {
        const name = await choose(`Give ${id} to an agent now, out of turn`, idle);
        if (name) command({ command: 'assign', agent: name, ticket: id }, id);
      },
    });
  }
  if (agent && works) {
    buttons.push({
      verb: 'say', label: 'Say…', key: 'y', line: `crew say ${agent} "…"`,
      run: async () => {
        const text = await confirm({ title: `Say something to ${agent}`, says: 'Its next prompt says it.', label: 'Your words', required: true, yes: 'Say', line: `crew say ${agent} "…"` });
        if (text) command({ command: 'say', agent, text }, id);
      },
    });
    if (at?.state === 'waiting' && !had.includes('answer')) {
      buttons.push({ verb: 'wake', label: 'Wake', key: 'W', line: `crew wake ${agent}`, run: () => command({ command: 'wake', agent }, id) });
    }
    buttons.push({
      verb: 'kill', label: 'Kill…', key: 'K', danger: true, line: `crew kill ${agent}`,
      run: async () => {
        const seen = seenOf({ ticket: id });
        const text = await confirm({ title: `Kill ${agent}?`, says: `Its step is stopped. Its work is kept, and ${id} is held.`, yes: 'Kill', danger: true, line: `crew kill ${agent}` });
        if (text !== undefined) command({ command: 'kill', agent }, id, seen);
      },
    });
  }
  if (machine === 'verify') {
    buttons.push({
      verb: 'merge', label: 'Merge…', key: 'm', line: `crew merge ${id}`,
      run: async () => {
        const seen = seenOf({ ticket: id });
        const text = await confirm({ title: `Bring ${id} to landing now?`, says: 'Its checks run as always.', yes: 'Merge', line: `crew merge ${id}` });
        if (text !== undefined) command({ command: 'merge', ticket: id }, id, seen);
      },
    });
  }
  const says = machine === 'done' ? 'reopen' : 'close';
  buttons.push({
    verb: says, label: verbs[says].label, key: verbs[says].key, line: `crew ticket ${says} ${id}`,
    run: async () => {
      const text = await confirm(questionOfStatus(says, id, `crew ticket ${says} ${id}`));
      if (text !== undefined) setStatus(ticket, says === 'reopen' ? 'open' : 'closed');
    },
  });
  if (machine !== 'done') {
    buttons.push({
      verb: 'drop', label: 'Drop…', key: 'D', danger: true, line: `crew drop ${id}`,
      run: async () => {
        const seen = seenOf({ ticket: id });
        const reason = await confirm({ title: `Give ${id} up?`, says: 'Its work is kept under a ref. It is not worked on any more.', label: 'The reason (may be empty)', yes: 'Drop', danger: true, line: `crew drop ${id}` });
        if (reason !== undefined) command({ command: 'drop', ticket: id, reason }, id, seen);
      },
    });
  }
  return buttons.filter(it => !had.includes(it.verb));
};

/** @param {{ticket: Ticket, had: string[]}} props */
export const TicketActs = ({ ticket, had }) => {
  const buttons = offered(ticket, had);
  if (buttons.length === 0) return null;
  return h(Acts, { subject: ticket.id, seen: ticket.state, buttons, label: `Acts on ${ticket.id}` });
};
