// The lines of an output that a page holds: a window of it, by bytes. Nothing here touches the document.

/**
 * A line as the server makes it readable; `at` is the byte at which it begins.
 * @typedef {object} Line
 * @property {number} at
 * @property {string} look
 * @property {number} indent
 * @property {string} text
 * @property {'always' | 'folded' | 'unfolded'} shown
 * @property {boolean} joins Whether it continues the line before it.
 * @property {string | null} [time]
 */

/**
 * @typedef {object} Window
 * @property {Line[]} lines
 * @property {number} start The byte at which the first line begins; 0 at the beginning of the output.
 * @property {number} end The byte behind the last line.
 * @property {number} length The bytes of the whole output, as far as it is known.
 * @property {boolean} done Whether nothing more is printed.
 * @property {string[]} [errors] The last lines of standard error.
 */

/** The most lines that the page holds: what is beyond is read anew when somebody looks at it. */
export const MOST_LINES = 1_200;

/** @param {Window} window */
export const reachesEnd = window => window.end >= window.length;

/**
 * With lines behind the last one. What was there before is left out; beyond the most, the first ones are forgotten.
 * @param {Window} window
 * @param {{lines: Line[], end: number, length?: number, done?: boolean}} more
 * @returns {Window}
 */
export const append = (window, more) => {
  const fresh = more.lines.filter(line => line.at >= window.end);
  const lines = [...window.lines, ...fresh];
  let first = Math.max(0, lines.length - MOST_LINES);
  // Lines of one entry begin at the same byte: they stay together.
  while (first > 0 && lines[first]?.at === lines[first - 1]?.at) first += 1;
  const kept = lines.slice(first);
  const end = Math.max(window.end, more.end);
  return {
    lines: kept,
    start: kept.length < lines.length ? (kept[0]?.at ?? window.start) : window.start,
    end,
    length: Math.max(window.length, more.length ?? 0, end),
    done: more.done ?? window.done,
    errors: window.errors,
  };
};

/**
 * With lines before the first one. Beyond the most, the last ones are forgotten.
 * @param {Window} window
 * @param {{lines: Line[], start: number, length?: number, done?: boolean}} more
 * @returns {Window}
 */
export const prepend = (window, more) => {
  const older = more.lines.filter(line => line.at < window.start);
  const lines = [...older, ...window.lines];
  let count = Math.min(lines.length, MOST_LINES);
  while (count < lines.length && lines[count]?.at === lines[count - 1]?.at) count -= 1;
  const kept = lines.slice(0, count);
  const cut = lines[count];
  return {
    lines: kept,
    start: Math.min(window.start, more.start),
    end: cut ? cut.at : window.end,
    length: Math.max(window.length, more.length ?? 0),
    done: more.done ?? window.done,
    errors: window.errors,
  };
};

/**
 * The lines as they are shown: those that continue another stand behind it.
 * @param {readonly Line[]} lines
 * @param {boolean} unfolded Whether what tools got and returned is shown whole.
 * @returns {Line[]}
 */
export const shown = (lines, unfolded) => {
  /** @type {Line[]} */
  const result = [];
  const hides = unfolded ? 'folded' : 'unfolded';
  for (const line of lines) {
    // What a tool got may stand between the tool and its end.
    const before = line.joins ? result.findLastIndex(it => it.shown !== 'unfolded') : -1;
    const last = result[before];
    if (last) result[before] = { ...last, text: `${last.text} … ${line.text}`, look: line.look };
    else if (line.shown !== hides) result.push(line);
  }
  return result;
};

/** Whether something is shown in one of the two ways only. @param {readonly Line[]} lines */
export const hasFolds = lines => lines.some(line => line.shown !== 'always');
