// The page's words, and the looks that belong to the model's. Sentences are whole: none is put together from
// pieces.

/** The tone of a standing's sign, an agent's state or a ticket's: it decides the colour, never alone. */
/** @type {Record<string, string>} */
const tones = {
  wrong: 'wrong', asks: 'waiting', intheway: 'waiting', waits: 'waiting', ready: 'good', preparing: 'moving',
  working: 'working', ended: 'moving', verifying: 'moving', queued: 'dim', landing: 'good', apart: 'dim',
  landed: 'good', closed: 'dim', failed: 'wrong', dropped: 'dim',
  idle: 'dim', waiting: 'waiting', reviewing: 'moving', done: 'good', stuck: 'wrong',
};

/** @param {string} sign */
export const tone = sign => tones[sign.toLowerCase().replace(/[_ ]/g, '')] ?? 'dim';

/** The symbols of the terminal. @type {Record<string, string>} */
export const symbols = {
  idle: '○', preparing: '◐', ready: '◐', working: '●', waiting: '◌', verifying: '◍', reviewing: '◎', done: '✓',
  stuck: '!',
};

/** Kinds of items: the symbol and the words of each. @type {Record<string, [string, string]>} */
const kinds = {
  question: ['?', 'question'],
  checkout: ['!', 'your edits'],
  pull_request: ['⇡', 'pull request'],
  unwritten: ['!', 'file not written'],
  harness: ['!', 'harness refuses'],
  dependency: ['↻', 'dependency'],
  dependency_failed: ['✗', 'dependency failed'],
  impossible: ['✗', 'impossible'],
  file: ['!', 'ticket file'],
  failing: ['!', 'crew fails'],
  disk: ['!', 'disk'],
  settings: ['!', 'settings'],
  stuck: ['!', 'stuck'],
  failed: ['✗', 'failed'],
  blocked: ['!', 'blocked'],
  killed: ['■', 'killed'],
  reaped: ['■', 'given up'],
  could_not_run: ['!', 'check cannot run'],
  target_red: ['!', 'target red'],
  paths: ['⚠', 'sensitive paths'],
  secrets: ['⚠', 'secrets'],
  commitments: ['⚠', 'commitments'],
  tests: ['⚠', 'fewer tests'],
  landing: ['!', 'landing'],
  conflict: ['≠', 'conflict'],
  auth: ['!', 'credentials'],
  no_progress: ['↻', 'no progress'],
  review: ['◎', 'review'],
  hold: ['‖', 'on hold'],
  diverged: ['≠', 'diverged'],
  closed: ['✓', 'closed'],
  budget: ['$', 'budget'],
};

/** @param {string} kind */
export const kindOf = kind => {
  const [symbol, words] = kinds[kind] ?? ['!', kind.replaceAll('_', ' ')];
  return { symbol, words };
};

/** Kinds of which the reason is an agent's own words. */
export const agentsWords = new Set(['question', 'blocked', 'impossible']);

/**
 * Whether the reason of an item says no more than its question, which stands beside it in its agent's words.
 * @param {import('./types').Item} item
 */
export const asksOnly = ({ question, why }) =>
  Boolean(question) && why.replace(/\s+/g, ' ').includes((question ?? '').replace(/\s+/g, ' ').slice(0, 60));

/** @type {Record<string, string>} */
export const urgencies = {
  everyone: 'In everyone’s way',
  word: 'Waits for your word',
  parked: 'Parked',
};

/** @param {string} urgency */
export const urgencyTone = urgency => ({ everyone: 'wrong', word: 'waiting' })[urgency] ?? 'dim';

/** Acts: key, the button's words, and how the act is confirmed. */
/** @type {Record<string, {key: string, label: string, danger?: boolean, main?: boolean}>} */
export const verbs = {
  answer: { key: 'a', label: 'Answer', main: true },
  approve: { key: 'p', label: 'Approve', main: true },
  reject: { key: 'b', label: 'Send back…' },
  retry: { key: 'r', label: 'Retry' },
  waive: { key: 'w', label: 'Waive…' },
  merge: { key: 'm', label: 'Merge…' },
  wake: { key: 'W', label: 'Wake' },
  drop: { key: 'D', label: 'Drop…', danger: true },
  kill: { key: 'K', label: 'Kill…', danger: true },
  undep: { key: 'u', label: 'Remove dependency' },
  reopen: { key: 'O', label: 'Reopen…' },
  close: { key: 'C', label: 'Close…' },
};

const plural = new Intl.PluralRules('en');

/** @param {number} n @param {string} one @param {string} other */
export const several = (n, one, other) => (plural.select(n) === 'one' ? one : other).replace('#', String(n));

export const words = {
  /** @param {number} n */ fresh: n => several(n, '# new', '# new'),
  /** @param {number} n */ needYou: n => several(n, '# needs you', '# need you'),
  /** @param {number} n */ lines: n => several(n, '# line', '# lines'),
  /** @param {number} n */ attempts: n => several(n, '# attempt', '# attempts'),
  /** @param {number} n */ steps: n => several(n, '# step', '# steps'),
  /** @param {number} n */ files: n => several(n, '# file', '# files'),
  /** @param {number} shown @param {number} all */ ofAll: (shown, all) => `${shown} of ${all}`,
  nothingWaits: 'Nothing waits for you.',
  looksOnly: 'This device may look, not act.',
  notLive: 'Not now: what is shown may be out of date.',
  carriedOutHere: 'No engine runs: crew carries this out here.',
};
