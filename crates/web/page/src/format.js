// How numbers, money and times are written.

const count = new Intl.NumberFormat('en');
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
const shortClock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });

/** A count: `12,431`. @param {number} n */
export const number = n => count.format(n);

/** Tokens and the like, shortened: `41.2K`. @param {number} n */
export const short = n => (n < 10_000 ? count.format(n) : compact.format(n));

/**
 * Millionths of a US dollar. What is less than a cent is said to be so.
 * @param {number} micro
 */
export const money = micro => {
  if (micro > 0 && micro < 5_000) return '<$0.01';
  return dollars.format(micro / 1e6);
};

/**
 * The cost of steps; `~` before one that is partly estimated, and a dash where nothing was paid.
 * @param {{cost_micro_usd: number, estimated_micro_usd?: number} | null | undefined} usage
 */
export const cost = usage => {
  if (!usage || usage.cost_micro_usd === 0) return '–';
  return (usage.estimated_micro_usd ? '~' : '') + money(usage.cost_micro_usd);
};

/** A span of time in its two largest units: `1h 2m`. @param {number} ms */
export const span = ms => {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 60) return `${s}s`;
  const m = Math.floor(s / 60);
  if (m < 60) return `${m}m`;
  const hours = Math.floor(m / 60);
  if (hours < 24) return m % 60 ? `${hours}h ${m % 60}m` : `${hours}h`;
  const days = Math.floor(hours / 24);
  return hours % 24 ? `${days}d ${hours % 24}h` : `${days}d`;
};

/** The time of day here, with seconds. @param {number | string} at */
export const time = at => clock.format(new Date(at));

/** The time of day here, and the day where it is not today. @param {number | string} at */
export const moment = at => {
  const date = new Date(at);
  const today = new Date().toDateString() === date.toDateString();
  return today ? shortClock.format(date) : `${day.format(date)}, ${shortClock.format(date)}`;
};

/** Day, time and zone. @param {number | string} at */
export const whole = at => full.format(new Date(at));

/** Words of crew's as a sentence: with a capital letter. @param {string} text */
export const sentence = text => text.charAt(0).toUpperCase() + text.slice(1);

/** The first letters of a commit's id. @param {string} oid */
export const oid = oid => oid.slice(0, 7);

const moments = /\b(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)\b/;

/**
 * A sentence of crew in pieces: what stood between backticks is code, and moments stand apart. A backtick without
 * its other one stays in its words.
 * @param {string} text
 * @returns {{kind: 'text' | 'code' | 'moment', text: string}[]}
 */
export const pieces = text => {
  const all = text.split('`');
  if (all.length % 2 === 0) {
    const last = all.pop();
    all.push(`${all.pop()}\`${last}`);
  }
  return all.flatMap((piece, n) => (n % 2 ? [piece] : piece.split(moments)).map((text, m) => (
    { kind: /** @type {'text' | 'code' | 'moment'} */ (n % 2 ? 'code' : m % 2 ? 'moment' : 'text'), text }))).filter(it => it.text !== '');
};

// Characters that would hide, reorder or fake text: shown as escapes, as everywhere in crew.
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/u;

// Within an emoji two of them are what makes it the one it is: the sign that it is drawn in colours, and the joiner of several.
const emoji = /(?<=\p{Extended_Pictographic})\ufe0f|(?<=[0-9#*])\ufe0f(?=\u20e3)|(?<=\p{Extended_Pictographic}\ufe0f?\p{Emoji_Modifier}?)\u200d(?=\p{Extended_Pictographic})/u;
const shown = new RegExp(`(${emoji.source})|${hidden.source}`, 'gu');

/** @param {string} text */
export const visible = text => text.replace(shown, (c, kept) => {
  if (kept) return c;
  const code = /** @type {number} */ (c.codePointAt(0));
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
});
