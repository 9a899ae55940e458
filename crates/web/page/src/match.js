// Matching in the command palette: which entries fit what was typed, the best first.

/**
 * @typedef {object} Entry
 * @property {'page' | 'act' | 'agent' | 'ticket' | 'answer' | 'event' | 'commit'} kind
 * @property {string} id The address of a page, the name of an agent, the id of a ticket.
 * @property {string} title
 * @property {string} [note] What stands beside it.
 * @property {string} [keys] The keys that do the same.
 * @property {() => void} run
 */

/** @typedef {{ entry: Entry, score: number }} Match */

/** The most matches that are shown. */
export const MOST = 50;

/** What an entry of a kind is worth beside another that fits equally well.
 * @type {Record<Entry["kind"], number>} */
const WORTH = { page: 3, act: 2, agent: 1, ticket: 0, answer: 0, event: 0, commit: 0 };

/** The text without case and accents.
 * @param {string} text */
export function folded(text) {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}

/**
 * The entries that fit all the words, the best first; all of them, in their order, where nothing was typed.
 * @param {string} typed
 * @param {readonly Entry[]} entries
 * @returns {Entry[]}
 */
export function matching(typed, entries) {
  const words = folded(typed).split(/\s+/u).filter(Boolean);
  if (words.length === 0) return entries.slice(0, MOST);
  /** @type {Match[]} */
  const matches = [];
  for (const entry of entries) {
    const score = scoreOf(words, entry);
    if (score > 0) matches.push({ entry, score });
  }
  // The sort is stable: what fits equally well stays in the order of the entries.
  matches.sort((a, b) => b.score - a.score);
  return matches.slice(0, MOST).map(({ entry }) => entry);
}

/**
 * How well an entry fits; 0 where a word does not.
 * @param {readonly string[]} words
 * @param {Entry} entry
 */
function scoreOf(words, entry) {
  const id = folded(entry.id);
  const title = folded(entry.title);
  let sum = 0;
  for (const word of words) {
    const score = Math.max(idScore(word, id), textScore(word, title));
    if (score === 0) return 0;
    sum += score;
  }
  return sum * 10 + WORTH[entry.kind];
}

/** A whole id is the best of all, and so is the part behind its last dash: `12` for `t-12`.
 * @param {string} word
 * @param {string} id */
function idScore(word, id) {
  if (word === id || word === id.slice(id.lastIndexOf('-') + 1)) return 100;
  if (id.startsWith(word)) return 20;
  return word.length > 1 && id.includes(word) ? 8 : 0;
}

/** The beginning of the text, of a word, any place, or only the letters one after the other.
 * @param {string} word
 * @param {string} text */
function textScore(word, text) {
  const first = text.indexOf(word);
  if (first === 0) return 30;
  for (let at = first; at > 0; at = text.indexOf(word, at + 1)) {
    if (!/[\p{L}\p{N}]/u.test(text[at - 1] ?? '')) return 20;
  }
  if (first > 0) return 8;
  return word.length > 2 && hasLetters(word, text) ? 2 : 0;
}

/** Whether the letters of a word come one after the other, each at most a few letters behind the one before.
 * @param {string} word
 * @param {string} text */
function hasLetters(word, text) {
  let at = -1;
  for (const letter of word) {
    const next = text.indexOf(letter, at + 1);
    if (next < 0 || (at >= 0 && next - at > 8)) return false;
    at = next;
  }
  return true;
}
