// The filter of tickets: words, and words with a key (`state:held agent:ada tag:web p:0 dep:t-9 why:dirty`).

/** @typedef {import('./types').Ticket} Ticket */

/** @type {Record<string, (ticket: Ticket, word: string) => boolean>} */
const keys = {
  state: (it, word) => `${it.standing.word} ${it.standing.sign} ${it.state}`.toLowerCase().includes(word),
  agent: (it, word) => (it.agent ?? '').toLowerCase().startsWith(word),
  tag: (it, word) => [...it.tags, ...it.labels].some(tag => tag.toLowerCase().startsWith(word)),
  type: (it, word) => it.type.toLowerCase().startsWith(word),
  p: (it, word) => String(it.priority) === word,
  dep: (it, word) => it.deps.some(dep => dep.toLowerCase() === word),
  why: (it, word) => whyOf(it).toLowerCase().includes(word),
};

/** Why a ticket does not move, in words; '' where nothing is in the way. @param {Ticket} ticket */
export const whyOf = ticket => ticket.standing.why ?? refusalOf(ticket) ?? '';

/** Refusals that say no more than the standing does. */
const plain = new Set(['in_progress', 'submitted', 'done', 'held']);

/** Why it is not dispatched, where its standing does not say that. @param {Ticket} ticket */
const refusalOf = ticket => (plain.has(ticket.refusal?.why ?? '') ? null : ticket.why_not);

/** Whether a ticket has all words of a filter. @param {string} text @returns {(ticket: Ticket) => boolean} */
export const filter = text => {
  const tests = text.toLowerCase().split(/\s+/).filter(Boolean).map(word => {
    const colon = word.indexOf(':');
    const test = keys[word.slice(0, colon)];
    const rest = word.slice(colon + 1);
    if (colon > 0 && test) return (/** @type {Ticket} */ it) => rest === '' || test(it, rest);
    return (/** @type {Ticket} */ it) => `${it.id} ${it.title} ${it.agent ?? ''} ${it.type} ${it.standing.word} ${it.tags.join(' ')}`
      .toLowerCase().includes(word);
  });
  return ticket => tests.every(test => test(ticket));
};

/** Other orders than crew's own. @type {Record<string, [string, (a: Ticket, b: Ticket) => number]>} */
export const sorts = {
  since: ['longest as it is', (a, b) => a.since.localeCompare(b.since)],
  priority: ['priority', (a, b) => a.priority - b.priority],
  cost: ['cost', (a, b) => b.cost_micro_usd - a.cost_micro_usd],
  id: ['id', (a, b) => a.id.localeCompare(b.id, 'en', { numeric: true })],
};
