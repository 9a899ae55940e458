// One act on several chosen items, by its button or its key: one confirmation that lists them, one command each, and
// results row by row.
import { h, useState } from '../h.js';
import { confirm, outcomes, sendAct } from '../acts.js';
import { useKeys } from '../keymap.js';
import { inert } from '../shell.js';
import { kindOf, several, verbs } from '../words.js';
import { Outside, Said } from './outside.js';
import { announce, toast } from './toast.js';

/** @typedef {import('../types').Item} Item */

/** Acts that are done on several at once. */
const many = ['approve', 'retry', 'wake', 'merge', 'waive', 'reject', 'drop', 'kill'];
/**
 * Those to which a text belongs: the same for all.
 * @type {Record<string, {label: string, required: boolean}>}
 */
const texts = {
  waive: { label: 'The reason, for all of them', required: true },
  reject: { label: 'What is to be different, for all of them', required: true },
  drop: { label: 'The reason, for all of them (may be empty)', required: false },
};

/** @param {Item} item */
const named = item => [item.ticket, item.title].filter(Boolean).join(' ');

/**
 * Whether it may be done to the item with others: what looks like secrets is approved where it is seen.
 * @param {Item} item @param {string} verb
 */
const goesWithOthers = (item, verb) => item.acts.some(act => act.verb === verb && act.typed !== null) && !(verb === 'approve' && item.kind === 'secrets');

/** The verbs that all of them offer. @param {Item[]} items */
const common = items => many.filter(verb => items.every(item => goesWithOthers(item, verb)));

/** @param {{items: Item[], clear: () => void}} props */
export const Bulk = ({ items, clear }) => {
  const [results, setResults] = useState(/** @type {{item: Item, accepted: boolean | null}[]} */ ([]));
  const run = async (/** @type {string} */ verb) => {
    const why = inert();
    if (why) {
      announce(why);
      return;
    }
    const { label, danger } = verbs[verb];
    const words = label.replace('…', '');
    const text = await confirm({
      title: several(items.length, `${words} # item?`, `${words} # items?`),
      says: items.map(item => `${named(item)}: ${kindOf(item.kind).words}`).join('\n'), yes: several(items.length, `${words} #`, `${words} all #`), danger, ...texts[verb],
    });
    if (text === undefined) return;
    setResults(items.map(item => ({ item, accepted: null })));
    clear();
    for (const item of items) {
      const it = item.acts.find(act => act.verb === verb);
      const accepted = it ? await sendAct(item, it, text) : false;
      setResults(was => was.map(result => (result.item.id === item.id ? { item, accepted } : result)));
    }
  };
  const offered = common(items);
  // While some are chosen, the key of an act is about all of them, or about none.
  const keys = [...Object.entries(verbs).map(([verb, { key, label }]) => ({ verb, key, label })), { verb: 'snooze', key: 'z', label: 'Snooze' }];
  useKeys(items.length === 0 ? [] : keys.map(({ verb, key, label }) => {
    const all = offered.includes(verb);
    const none = `${label.replace('…', '')} is not for all of them at once: open each.`;
    return { key, label, run: () => (all ? run(verb) : toast(none, { tone: 'wrong' })), inert: all ? null : none };
  }), [items, offered.join()]);
  if (items.length === 0 && results.length === 0) return null;
  return h('section', { class: 'bulk', 'aria-label': 'Chosen items' },
    items.length > 0 && h('div', { class: 'bulk-acts' },
      h('b', null, `${items.length} chosen`),
      offered.map(verb => h('button', {
        key: verb, type: 'button', class: verbs[verb].danger ? 'danger' : '', 'aria-keyshortcuts': verbs[verb].key, onClick: () => run(verb),
      }, verbs[verb].label, h('kbd', { 'aria-hidden': 'true' }, verbs[verb].key))),
      offered.length === 0 && h('span', { class: 'dim' }, 'They have no act in common that is for several at once.'),
      h('button', { type: 'button', class: 'quiet', onClick: clear }, 'Choose none')),
    results.length > 0 && h('ul', { class: 'bulk-results' }, results.map(({ item, accepted }) => {
      const outcome = outcomes.value.get(item.id);
      return h('li', { key: item.id },
        accepted === null ? h('span', { class: 'moving' }, '◌ ') : accepted ? h('span', { class: 'good' }, '✓ ') : h('span', { class: 'wrong' }, '! '),
        h(Outside, { text: named(item) }),
        h('span', { class: 'dim' }, accepted === null ? ' – not answered yet' : accepted ? ' – done' : [' – ', h(Said, { key: 'why', text: outcome?.message ?? 'refused' })]));
    })),
    results.length > 0 && h('button', { type: 'button', class: 'quiet small', onClick: () => setResults([]) }, 'Close'));
};
