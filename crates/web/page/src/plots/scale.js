// What plots compute: ticks, bands, buckets, and tables as CSV. Nothing here touches the document.

/** The most marks of a plot: beyond, neighbours are joined. */
export const MOST_MARKS = 400;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [MINUTE, 2 * MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY];

/**
 * Round values from 0 to at least `max`, about `count` of them.
 * @param {number} max
 * @param {number} [count]
 */
export function niceTicks(max, count = 4) {
  if (!(max > 0)) return [0, 1];
  const rough = max / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5].find((factor) => factor * power >= rough) ?? 10) * power;
  const ticks = [];
  for (let n = 0; n * step < max + step * 0.999; n += 1) ticks.push(n * step);
  return ticks;
}

/**
 * Round moments of the local day between two moments, at least `apart` pixels from each other.
 * @param {number} from milliseconds
 * @param {number} to milliseconds
 * @param {number} width pixels
 * @param {number} [apart] pixels
 */
export function timeTicks(from, to, width, apart = 64) {
  if (!(to > from) || !(width > 0)) return [];
  const least = ((to - from) * apart) / width;
  const step = STEPS.find((it) => it >= least) ?? 7 * DAY;
  const start = new Date(from);
  start.setHours(0, 0, 0, 0);
  const ticks = [];
  // Counted from midnight, so that ticks are round where the zone is not a whole number of hours from UTC.
  for (let at = start.getTime(); at <= to; at += step) if (at >= from) ticks.push(at);
  return ticks;
}

/**
 * Every day of UTC from the first to the last, as `2026-01-31`.
 * @param {string} first
 * @param {string} last
 */
export function daysBetween(first, last) {
  const days = [];
  for (let at = Date.parse(`${first}T00:00:00Z`); at <= Date.parse(`${last}T00:00:00Z`); at += DAY) {
    days.push(new Date(at).toISOString().slice(0, 10));
  }
  return days;
}

/**
 * Neighbours joined so that at most `most` groups are left.
 * @template T
 * @param {readonly T[]} rows
 * @param {number} [most]
 * @returns {T[][]}
 */
export function buckets(rows, most = MOST_MARKS) {
  const size = Math.max(1, Math.ceil(rows.length / most));
  const groups = [];
  for (let at = 0; at < rows.length; at += size) groups.push(rows.slice(at, at + size));
  return groups;
}

/**
 * The part of a span that lies in a window, as numbers from 0 to 1; null where none does.
 * @param {number} from
 * @param {number} to
 * @param {number} since
 * @param {number} until
 */
export function shareOf(from, to, since, until) {
  const start = Math.max(from, since);
  const end = Math.min(to, until);
  if (!(until > since) || end < start || (end === start && to !== from)) return null;
  return { start: (start - since) / (until - since), end: (end - since) / (until - since), cut: from < since };
}

/**
 * A table as CSV (RFC 4180). A text that a spreadsheet would take for a formula begins with an apostrophe: titles are
 * written by others.
 * @param {readonly string[]} head
 * @param {readonly (readonly (string | number | null)[])[]} rows
 */
export function toCsv(head, rows) {
  const cell = (/** @type {string | number | null} */ value) => {
    if (value === null) return '';
    if (typeof value === 'number') return String(value);
    const safe = /^[=+\-@\t\r]/u.test(value) ? `'${value}` : value;
    return /[",\r\n]/u.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return [head, ...rows].map((row) => row.map(cell).join(',')).join('\r\n') + '\r\n';
}
