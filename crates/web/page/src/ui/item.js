// The card of an item that waits: what it is, the facts, and the acts.
import { h, useLayoutEffect, useEffect, useRef, useState } from '../h.js';
import { Acts, Refusal, buttonOf, dismiss, outcomes, sendAct } from '../acts.js';
import { looksOnly } from '../api.js';
import { useKeys } from '../keymap.js';
import { keep, kept } from '../prefs.js';
import { at, repo } from '../router.js';
import { inert } from '../shell.js';
import { snooze, snoozeOf } from '../snooze.js';
import { agentsWords, asksOnly, verbs } from '../words.js';
import { Outside, OutsideLines, Said, SaidLines } from './outside.js';
import { ItemKind } from './state.js';
import { Age, Moment, Until } from './time.js';
import { announce } from './toast.js';

/** @typedef {import('../types').Item} Item */
/** @typedef {import('../types').Act} Act */

// Drafts: what was typed and is not accepted yet is kept in this browser, over reloads and restarts.
const PREFIX = 'crew.draft.';

/** @param {string} key */
const draft = key => kept(PREFIX + key) ?? '';

/** The end of what a check printed, scrolled to its end. @param {{text: string}} props */
const Printed = ({ text }) => {
  const ref = useRef(/** @type {HTMLPreElement | null} */ (null));
  useLayoutEffect(() => {
    if (ref.current) ref.current.scrollTop = ref.current.scrollHeight;
  }, [text]);
  return h('pre', { class: 'printed', ref, tabIndex: 0, role: 'group', 'aria-label': 'What was printed' }, h(OutsideLines, { text }));
};

/**
 * The answer to a question: kept until it is accepted.
 * @param {{item: Item, text: string, setText: (text: string) => void, send: () => void, field: {current:
 *   any}}} props
 */
const Answer = ({ item, text, setText, send, field }) => h('label', { class: 'field answer' },
  h('span', { class: 'dim' }, item.agent ? ['Your answer to ', h(Outside, { text: item.agent })] : 'Your answer',
    h('span', { class: 'wide' }, '. Ctrl-Enter sends it.')),
  h('textarea', {
    ref: field, value: text, rows: 4, dir: 'auto',
    onInput: (/** @type {Event & {currentTarget: HTMLTextAreaElement}} */ event) => setText(event.currentTarget.value),
    onKeyDown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.isComposing) {
        event.preventDefault();
        send();
      }
    },
  }));

// The verbs that decide about work: the work is at hand beside them; that of an approval without asking.
const deciding = ['approve', 'reject', 'waive', 'merge'];

/** What a person decides about; loaded after the card. @param {{item: Item}} props */
const Work = ({ item }) => {
  const decides = item.ticket !== null && item.acts.some(it => it.typed !== null && deciding.includes(it.verb));
  const [part, setPart] = useState(/** @type {any} */ (null));
  useEffect(() => {
    if (decides && !part) import('./change.js').then(setPart);
  }, [decides]);
  return decides && part && h(part.Change, {
    key: item.id, id: item.ticket, seen: item.acts.map(it => it.typed).join(), open: item.acts.some(it => it.verb === 'approve'),
  });
};

/** Puts the item off on this device, or lets it count again. @param {{item: Item, keyless: boolean}} props */
const Snoozed = ({ item, keyless }) => {
  const it = snoozeOf(item);
  const run = () => (it ? snooze(item, null) : import('./snooze.js').then(({ askSnooze }) => askSnooze(item)));
  useKeys(keyless ? [] : [{ key: 'z', label: it ? 'End the snooze of the item' : 'Snooze the item on this device', run }], [item.id, it === null, keyless]);
  return h('p', { class: 'item-snooze dim' },
    it && ['Snoozed on this device until ', it.until ? h(Moment, { key: 'at', at: new Date(it.until).toISOString() }) : 'it changes', '. '],
    h('button', { type: 'button', class: 'quiet small', onClick: run }, it ? 'End the snooze' : 'Snooze…'));
};

/**
 * @param {{item: Item, heading?: string, gone?: boolean, linked?: boolean, next?: string | null, keyless?: boolean}} props
 *   `heading`: the element of its title. `gone`: it waits no more; `next`: then the address of what to look
 * at instead. `linked`: whether it has its title, and links to its ticket: not on the ticket's own page.
 *   `keyless`: whether keys are about something else now.
 */
export const ItemCard = ({ item, heading = 'h2', gone = false, linked = true, next = null, keyless = false }) => {
  const key = `${repo.value}.${item.id}`;
  const [text, setText] = useState(() => draft(key));
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  useEffect(() => setText(draft(key)), [key]);

  const type = (/** @type {string} */ it) => {
    setText(it);
    keep(PREFIX + key, it || null);
  };
  const send = async () => {
    if (outcomes.peek().get(item.id)?.state === 'pending') return;
    const why = inert();
    if (why) {
      announce(why);
      return;
    }
    if (!text.trim()) {
      field.current?.focus();
      announce('Write an answer first.');
      return;
    }
    dismiss(item.id);
    if (asks && await sendAct(item, asks, text.trim())) type('');
  };

  const asks = item.acts.find(it => it.verb === 'answer');
  const typed = item.acts.filter(it => it.typed !== null);
  const byHand = item.acts.filter(it => it.by_hand !== null);
  const buttons = typed.map(it => {
    if (it.verb !== 'answer') return buttonOf(item, it);
    return { ...verbs.answer, verb: 'answer', line: it.typed, run: () => (text.trim() ? send() : field.current?.focus()) };
  });

  return h('article', { class: `item-card ${gone ? 'is-gone' : ''}` },
    h('header', { class: 'item-head' },
      h('p', { class: 'item-kind' },
        h(ItemKind, { item }),
        item.agent && h('a', { href: at('a', item.agent) }, h(Outside, { text: item.agent })),
        h('span', { class: 'dim' }, 'waits ', h(Age, { since: item.since }))),
      linked && h(heading, { class: 'item-title', tabIndex: -1 },
        item.ticket && [h('a', { key: 'id', href: at('t', item.ticket), class: 'id' }, item.ticket), ' '],
        h(Outside, { text: item.title }))),
    gone && h('div', { class: 'notice good', role: 'status' },
      h('p', null, 'This waits no more. ', item.ticket && h('a', { href: at('t', item.ticket, 'history') }, 'What happened'),
        next && [' · ', h('a', { key: 'next', href: next }, 'Next item')])),
    item.why && !asksOnly(item) && h('p', { class: 'item-why' }, h(agentsWords.has(item.kind) ? OutsideLines : SaidLines, { text: item.why })),
    item.question && h('figure', { class: 'question' },
      h('figcaption', { class: 'dim' }, h(Outside, { text: item.agent ?? 'the agent' }), ' asks'),
      h('blockquote', { class: 'quote' }, h(OutsideLines, { text: item.question }))),
    item.printed && h(Printed, { text: item.printed }),
    item.until && !gone && h('p', { class: 'dim' }, 'It moves on by itself in ', h(Until, { until: item.until }), '.'),
    byHand.length > 0 && !gone && h('ul', { class: 'by-hand' }, byHand.map(it =>
      h('li', { key: it.by_hand }, h('span', { class: 'chip' }, 'by hand'), ' ', h(Said, { text: it.by_hand })))),
    asks && !looksOnly() && (!gone || text !== '') && h(Answer, { item, text, setText: type, send, field }),
    gone && h(Refusal, { subject: item.id }),
    !gone && h(Work, { item }),
    !gone && buttons.length > 0 && h(Acts, { subject: item.id, seen: item, buttons, keyless }),
    item.ticket && linked && h('p', { class: 'item-links' },
      h('a', { href: at('t', item.ticket) }, 'Ticket'),
      h('a', { href: at('t', item.ticket, 'output') }, 'Output'),
      h('a', { href: at('t', item.ticket, 'history') }, 'History')),
    linked && !gone && h(Snoozed, { item, keyless }));
};
