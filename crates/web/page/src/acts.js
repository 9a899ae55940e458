// Acts: what a person does. Nothing is shown as done before the server says so.
import { effect, h, signal, useEffect, useRef, useState } from './h.js';
import { Problem, get, looksOnly, path, put } from './api.js';
import { useKeys } from './keymap.js';
import { docs, repo, state } from './store.js';
import { inert } from './shell.js';
import { verbs, words } from './words.js';
import { Copy } from './ui/copy.js';
import { Said, SaidLines } from './ui/outside.js';
import { announce, toast } from './ui/toast.js';

/** @typedef {import('./types').Act} Act */
/** @typedef {import('./types').Item} Item */
/** @typedef {import('./types').Asked} Asked */
/**
 * @typedef {{verb: string, state: 'pending' | 'refused' | 'unknown', message: string, hint?: string |
 *   null}} Outcome
 */

/** How long a lost answer is asked for again, by the same id: repeating is asking once. */
const PATIENCE = 30_000;

/**
 * What became of the last act on a subject: an item's id, a ticket's, an agent's. What was accepted is gone
 * from it.
 */
/** @type {import('../vendor/signals.js').Signal<Map<string, Outcome>>} */
export const outcomes = signal(new Map());

/** @param {string} subject @param {Outcome | null} outcome */
const note = (subject, outcome) => {
  const map = new Map(outcomes.peek());
  if (outcome) map.set(subject, outcome);
  else map.delete(subject);
  outcomes.value = map;
};

/** Take the words of a refusal away. @param {string} subject */
export const dismiss = subject => note(subject, null);

/** A random id. `crypto.randomUUID` is only there where the page came over a safe line. */
const uuid = () => {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
};

/** @param {number} ms */
const wait = ms => new Promise(resolve => { setTimeout(resolve, ms); });

/**
 * What became of a command that is not decided yet: by the stream, and by asking where that is silent.
 * @param {string} id @param {string} at @returns {Promise<Asked>}
 */
const decided = (id, at) => new Promise(resolve => {
  /** @param {Asked | undefined} asked */
  const look = asked => {
    if (!asked || asked.state === 'pending') return;
    stop();
    clearInterval(timer);
    resolve(asked);
  };
  const timer = setInterval(() => get(at).then(look, () => undefined), 3_000);
  const stop = effect(() => {
    const asked = docs.asked.value.get(id);
    queueMicrotask(() => look(asked));
  });
});

/** Subjects that have no place of their own on every page, where the words of a refusal would stand. */
const placeless = new Set(['engine', 'spawn']);

/** Say that an act was not done. @param {string} subject @param {Outcome} outcome @param {boolean} [isGone] */
const refused = (subject, outcome, isGone = false) => {
  note(subject, outcome);
  if (isGone || placeless.has(subject)) toast(outcome.message, { tone: 'wrong' });
  else announce(outcome.message);
  return false;
};

/**
 * Ask the server to do something, and follow it to its outcome.
 * @param {string} subject @param {string} verb
 * @param {(id: string) => string} to The path of the request. @param {unknown} body
 * @returns {Promise<boolean>} Whether it was accepted.
 */
const perform = async (subject, verb, to, body) => {
  const id = uuid();
  const own = path('r', repo.peek() ?? '', 'commands', id);
  const until = Date.now() + PATIENCE;
  note(subject, { verb, state: 'pending', message: '' });
  /** @type {Asked} */
  let asked;
  for (;;) {
    try {
      asked = await put(to(id), body);
      break;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if ((error.lost || error.status === 503 || error.status === 429) && Date.now() < until) {
        await wait(1_000);
        continue;
      }
      const message = error.lost
        ? 'crew did not answer. Whether this was done is not known: look again when it is live.'
        : error.message;
      // What it was about may be gone, and the place for the words with it.
      return refused(subject, { verb, state: error.lost ? 'unknown' : 'refused', message, hint: error.hint }, error.status === 409);
    }
  }
  if (asked.state === 'pending') asked = await decided(id, own);
  if (asked.state === 'accepted') {
    note(subject, null);
    toast(asked.message || 'Done.');
    return true;
  }
  return refused(subject, { verb, state: 'refused', message: asked.message || 'crew refused it.', hint: asked.hint });
};

/** Do what an item offers. @param {Item} item @param {Act} it @param {string} [text] */
export const sendAct = (item, it, text = '') =>
  perform(item.id, it.verb, id => path('r', repo.peek() ?? '', 'inbox', item.id, 'acts', id),
    { act: item.acts.indexOf(it), verb: it.verb, text });

/** Commands that cannot be undone: they name the ticket as the person saw it. */
const naming = new Set(['kill', 'cleanup', 'merge', 'drop', 'waive', 'waive_commitment', 'reject', 'reap']);

/** @typedef {{ticket: string, mark: string} | {idle: string}} Seen */

/**
 * The mark of a ticket, or of the one that an agent is at, as it is shown now; of an agent without one, that it has none.
 * @param {{ticket?: any, agent?: any, [key: string]: unknown}} of
 * @returns {Seen | undefined}
 */
export const seenOf = ({ ticket, agent }) => {
  const at = docs.agent.peek().get(agent);
  const id = ticket ?? at?.ticket;
  if (!id && at) return { idle: agent };
  const mark = id && docs.ticket.peek().get(id)?.seen;
  return mark ? { ticket: id, mark } : undefined;
};

/**
 * Send a command of the model: `{command: 'spawn', name: 'ada'}`.
 * @param {{command: string, [key: string]: unknown}} command @param {string} subject What it is about, for
 *   its outcome.
 * @param {Seen} [seen] What it is about as it was shown when the person decided; else as it is shown now.
 */
export const command = (command, subject, seen = seenOf(command)) =>
  perform(subject, command.command, id => path('r', repo.peek() ?? '', 'commands', id),
    seen && naming.has(command.command) ? { command, seen } : { command });

/**
 * Have a ticket done again, or say that it is over.
 * @param {import('./types').Ticket} ticket As it was shown when the person decided.
 * @param {'open' | 'closed'} status
 */
export const setStatus = ({ id: ticket, seen }, status) =>
  perform(ticket, status === 'open' ? 'reopen' : 'close', id => path('r', repo.peek() ?? '', 'tickets', ticket, 'status', id), { status, seen });

/** How a status is confirmed. @param {'reopen' | 'close'} verb @param {string} of @param {string | null} line */
export const questionOfStatus = (verb, of, line) => (verb === 'reopen'
  ? { title: `Have ${of} done again?`, says: 'Its file is opened, and an agent gets it when it is its turn. What it cost before is not given back.', yes: 'Reopen', line }
  : { title: `Close ${of}?`, says: 'Its file says that it is over. Work that is under way is submitted first: Drop gives that up.', yes: 'Close', line });

/**
 * Ask before an act: the dialog is loaded when it is first wanted.
 * @param {import('./ui/confirm.js').Question} question
 */
export const confirm = async question => (await import('./ui/confirm.js')).confirm(question);

/** How an act of an item is confirmed; null where it needs no word. @param {Item} item @param {Act} act */
const questionOf = (item, act) => {
  const of = item.ticket ?? item.title;
  const line = act.typed;
  switch (act.verb) {
    case 'approve':
      return { title: `Approve ${of}?`, says: item.why, yes: 'Approve', line };
    case 'reject':
      return { title: `Send ${of} back?`, says: 'Its agent goes on with your words.', label: 'What is to be different', required: true, yes: 'Send back', line };
    case 'waive':
      return {
        title: `Waive ${of}?`,
        says: `${item.why}\n\n${act.lets_pass ? `This ${act.lets_pass}.` : 'It lands as it is, without what holds it.'}`,
        label: 'The reason', required: true, yes: 'Waive', line,
      };
    case 'drop':
      return { title: `Give ${of} up?`, says: 'Its work is kept under a ref. It is not worked on any more.', label: 'The reason (may be empty)', yes: 'Drop', danger: true, line };
    case 'merge':
      return { title: `Bring ${of} to landing now?`, says: 'Its checks run as always.', yes: 'Merge', line };
    case 'kill':
      return { title: `Kill ${item.agent ?? 'the agent'}?`, says: `Its step is stopped. Its work is kept, and ${of} is held.`, yes: 'Kill', danger: true, line };
    case 'retry':
      return item.kind === 'budget'
        ? { title: `Go on with ${of}?`, says: `${item.why}\n\nIts budget is granted once more.`, yes: 'Retry', line }
        : null;
    case 'reopen':
    case 'close':
      return questionOfStatus(act.verb, act.typed?.split(' ').pop() ?? of, line);
    case 'undep':
      return { title: 'Remove the dependency?', says: item.why, yes: 'Remove', line };
    default:
      return null;
  }
};

/** Do an act of an item: ask first where that is wanted. @param {Item} item @param {Act} act */
export const act = async (item, act) => {
  const question = questionOf(item, act);
  if (!question) return sendAct(item, act);
  const text = await confirm(question);
  if (text === undefined) return false;
  return sendAct(item, act, text);
};

/** Whether what an act is about has stood still for long enough to be pressed. @param {unknown} seen */
const useSettled = seen => {
  const [settled, setSettled] = useState(false);
  const first = useRef(seen);
  useEffect(() => {
    first.current = seen;
    setSettled(false);
    const timer = setTimeout(() => setSettled(true), 400);
    return () => clearTimeout(timer);
  }, [seen]);
  return settled && first.current === seen;
};

/**
 * @typedef {object} Button
 * @property {string} verb
 * @property {string} label
 * @property {string} [key]
 * @property {string | null} [line] The line to type instead.
 * @property {boolean} [main]
 * @property {boolean} [danger]
 * @property {() => unknown} run
 */

/**
 * The button of an item's act; none for what is done by hand.
 * @param {Item} item
 * @param {Act} it
 * @returns {Button}
 */
export const buttonOf = (item, it) => {
  const { key, label, main, danger } = verbs[it.verb] ?? { key: '', label: it.verb };
  // Of several acts of one verb, the first has its key.
  const first = item.acts.find(other => other.verb === it.verb) === it;
  const commitment = /--commitment (\d+)/.exec(it.typed ?? '')?.[1];
  return {
    verb: it.verb, label: commitment ? `Waive commitment ${commitment}…` : label, key: first ? key : '', main, danger, line: it.typed, run: () => act(item, it),
  };
};

/**
 * Why the last act on a subject was not done: it stays until it is closed.
 * @param {{subject: string}} props
 */
export const Refusal = ({ subject }) => {
  const outcome = outcomes.value.get(subject);
  if (!outcome || outcome.state === 'pending') return null;
  return h('div', { class: 'notice wrong', role: 'alert' },
    h('p', null, h('span', { class: 'symbol', 'aria-hidden': 'true' }, '! '), h(SaidLines, { text: outcome.message })),
    outcome.hint && h('p', { class: 'dim' }, h(Said, { text: outcome.hint })),
    h('button', { type: 'button', class: 'small', onClick: () => dismiss(subject) }, 'Close'));
};

/**
 * Buttons for acts on one subject, each with its key and the line to type, and what became of the last one.
 * @param {{subject: string, seen: unknown, buttons: Button[], label?: string, keyless?: boolean}} props
 *   `seen`: what is shown of the subject; the acts rest for a moment when it changes. `keyless`: whether keys are
 *   about something else now.
 */
export const Acts = ({ subject, seen, buttons, label = 'Acts', keyless = false }) => {
  const settled = useSettled(seen);
  const outcome = outcomes.value.get(subject);
  const why = inert();
  const pending = outcome?.state === 'pending';
  const press = (/** @type {Button} */ it) => {
    if (why) announce(why);
    else if (settled && !pending) it.run();
  };
  useKeys(looksOnly() || keyless ? [] : buttons.filter(it => it.key).map(it => ({ key: it.key ?? '', label: it.label, run: () => press(it), inert: why })),
    [subject, seen, settled, pending, why, keyless, buttons.map(it => it.label).join()]);
  if (looksOnly()) return h('p', { class: 'dim' }, words.looksOnly);
  return h('section', { class: 'acts-part', 'aria-label': label },
    h(Refusal, { subject }),
    h('div', { class: 'acts' },
      buttons.map(it => h('div', { key: it.verb + it.label, class: 'act' },
        h('button', {
          type: 'button',
          class: `${it.main ? 'main' : ''} ${it.danger ? 'danger' : ''} ${!settled && !why && !pending ? 'rests' : ''}`,
          'aria-disabled': why || pending || !settled ? 'true' : undefined,
          'aria-keyshortcuts': (!keyless && it.key) || undefined,
          title: why ?? undefined,
          onClick: () => press(it),
        }, it.label, it.key && !keyless && h('kbd', { 'aria-hidden': 'true' }, it.key)),
        it.line && h(Copy, { line: it.line })))),
    pending && h('p', { class: 'pending', role: 'status' }, h('span', { 'aria-hidden': 'true' }, '◌'), `Asked: ${outcome.verb}. crew has not answered yet.`),
    why && h('p', { class: 'dim' }, why),
    !why && state.value && !state.value.engine && h('p', { class: 'dim' }, words.carriedOutHere));
};
