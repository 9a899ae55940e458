// Where the time of tickets went: a row for each ticket, a segment for each state that it was in.
import { h, useState } from '../h.js';
import { moment, span, time } from '../format.js';
import { at as address } from '../router.js';
import { Outside } from '../ui/outside.js';
import { Figure, useMarks, useWidth } from './figure.js';
import { shareOf, timeTicks } from './scale.js';

/** @typedef {'prepare' | 'work' | 'wait' | 'queue' | 'check' | 'review' | 'land' | 'held'} Phase */
/** @typedef {{state: Phase, agent: string | null, from: string, until: string | null, ended: 'landed' | 'sent_back' | 'failed' | null}} Segment */
/** @typedef {{ticket: string, title: string, agent: string | null, segments: Segment[]}} Row */

/** The words of the phases, in the order of the legend.
 * @type {Record<Phase, string>} */
const PHASES = {
  prepare: 'preparing', work: 'at work', wait: 'waiting', queue: 'in line', check: 'checking', review: 'in review',
  land: 'landing', held: 'held',
};

/** How a segment ended: a sign, and words.
 * @type {Record<string, [string, string]>} */
const ENDS = { landed: ['✓', 'landed'], sent_back: ['✗', 'sent back'], failed: ['!', 'failed'] };

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const ROW = 30;
const HEAD = 22;

/**
 * @param {object} props
 * @param {Row[]} props.rows
 * @param {number} props.now milliseconds
 * @param {number} props.since The earliest moment that is known.
 * @param {string} [props.title]
 */
export const Gantt = ({ rows, now, since, title = 'Where the time went' }) => {
  const earliest = Math.min(now, ...rows.flatMap(row => row.segments.map(segment => Date.parse(segment.from))));
  const [hours, setHours] = useState(() => [1, 6].find(n => now - n * HOUR <= earliest) ?? 24);
  const { ref, width } = useWidth();
  const [at, setAt] = useState(/** @type {number | null} */ (null));
  // A repository that is young fills the plot, too: nothing was before its first moment.
  const from = Math.max(now - hours * HOUR, Math.min(Math.max(since, earliest), now - 5 * MINUTE));
  const marks = rows.flatMap((row, place) => row.segments.flatMap(segment => {
    const [begin, end] = [Date.parse(segment.from), segment.until === null ? now : Date.parse(segment.until)];
    const share = shareOf(begin, end, from, now);
    return share ? [{ place, segment, share, says: sentence(row, segment, begin, end) }] : [];
  }));
  const { onKeyDown, mark } = useMarks(marks.length, setAt);
  const shown = rows.map((_, place) => marks.some(it => it.place === place));
  const isNarrow = width > 0 && width < 560;
  const labels = isNarrow ? 0 : Math.min(300, Math.max(120, width * 0.28));
  const row = isNarrow ? 46 : ROW;
  const inner = Math.max(0, width - labels - 16);
  const x = (/** @type {number} */ share) => labels + share * inner;
  // Rows without anything in the window are left out, so that the places of the others are counted anew.
  const kept = rows.flatMap((it, place) => (shown[place] ? [place] : []));
  const y = (/** @type {number} */ place) => HEAD + kept.indexOf(place) * row;
  const height = HEAD + kept.length * row + 4;
  const middle = isNarrow ? 33 : row / 2;
  const name = from > now - hours * HOUR ? `${title}, since ${moment(from)}, local time`
    : `${title}, last ${hours === 1 ? 'hour' : `${hours} hours`}, local time`;

  const plot = h('svg', { class: 'gantt', width, height, role: 'group', 'aria-label': name, onKeyDown },
    timeTicks(from, now, inner).map(tick => h('g', { class: 'tick', 'aria-hidden': 'true' },
      h('line', { x1: x((tick - from) / (now - from)), x2: x((tick - from) / (now - from)), y1: HEAD - 4, y2: height }),
      h('text', { x: x((tick - from) / (now - from)), y: 12, 'text-anchor': 'middle' }, moment(tick)))),
    kept.map(place => h('line', { class: 'rule', x1: 0, x2: width, y1: y(place), y2: y(place), 'aria-hidden': 'true' })),
    marks.map(({ place, segment, share, says }, n) => {
      const [left, right] = [x(share.start), Math.max(x(share.end), x(share.start) + 2)];
      const thick = THICK[segment.state] ?? 14;
      const [sign] = (segment.ended && ENDS[segment.ended]) || [];
      return h('g', { class: `seg seg-${segment.state}${segment.until === null ? ' open' : ''}`, ...mark(n, says) },
        h('rect', { class: 'touch', x: left - 1, y: y(place) + middle - 12, width: right - left + 2, height: 24 }),
        h('rect', { class: 'fill', x: left, y: y(place) + middle - thick / 2, width: right - left, height: thick, rx: thick > 8 ? 2 : 1 }),
        right - left > 46 && thick > 8 && h('text', { class: 'word', x: left + 5, y: y(place) + middle, dy: '0.33em', 'aria-hidden': 'true' },
          PHASES[segment.state]),
        sign && h('text', { class: `end end-${segment.ended}`, x: right + 1, y: y(place) + middle, dy: '0.36em', 'aria-hidden': 'true' }, sign));
    }),
    h('line', { class: 'now', x1: x(1), x2: x(1), y1: HEAD - 4, y2: height, 'aria-hidden': 'true' }));

  const names = h('ol', { class: 'gantt-names' }, kept.map(place => {
    const it = rows[place];
    return it && h('li', { style: { insetBlockStart: `${y(place)}px`, blockSize: `${isNarrow ? 22 : row}px`, inlineSize: isNarrow ? '100%' : `${labels - 8}px` } },
      h('a', { href: address('t', it.ticket) }, h(Outside, { class: 'id', text: it.ticket }), ' ', h(Outside, { class: 'title', text: it.title })),
      it.agent && !isNarrow && h(Outside, { class: 'who', text: it.agent }));
  }));

  const zoom = h('div', { class: 'segments', role: 'group', 'aria-label': 'How far back' }, [1, 6, 24].map(n =>
    h('button', { type: 'button', 'aria-pressed': String(hours === n), onClick: () => setHours(n) }, `${n} h`)));

  return h(Figure, {
    title: name, tools: zoom, file: 'time-of-tickets', facts: factsOf(rows, now),
    says: at === null ? null : marks[at]?.says,
    idle: marks.length ? 'Point at a segment, or go to it with Tab and the arrow keys.' : 'Nothing happened in this time.',
    legend: h('ul', { class: 'legend' },
      /** @type {[Phase, string][]} */ (Object.entries(PHASES)).map(([phase, word]) => h('li', null,
        h('svg', { class: 'swatch', width: 18, height: 14, 'aria-hidden': 'true' }, h('g', { class: `seg seg-${phase}` },
          h('rect', { class: 'fill', x: 0.5, y: 7 - THICK[phase] / 2, width: 17, height: THICK[phase], rx: 1 }))),
        word)),
      Object.values(ENDS).map(([sign, word]) => h('li', null, h('span', { 'aria-hidden': 'true' }, sign), ' ', word))),
  }, h('div', { ref, class: 'plot-width' }, width > 0 && [h('div', { class: 'gantt-box', key: 'box', style: { blockSize: `${height}px` } }, plot, names)]));
};

/** The thickness of a segment: what waits is thin, what costs is thick.
 * @type {Record<Phase, number>} */
const THICK = { prepare: 6, work: 16, wait: 4, queue: 4, check: 16, review: 16, land: 16, held: 8 };

/** @param {Row} row @param {Segment} segment @param {number} begin @param {number} end */
const sentence = (row, segment, begin, end) => {
  const ended = segment.ended && ENDS[segment.ended]?.[1];
  const until = segment.until === null ? 'goes on' : `until ${time(end)}`;
  return `${row.ticket}${segment.agent ? ` (${segment.agent})` : ''}: ${PHASES[segment.state] ?? segment.state} for ${span(end - begin)}, `
    + `from ${moment(begin)}, ${until}${ended ? `, then ${ended}` : ''}.`;
};

/** @param {Row[]} rows @param {number} now @returns {import('./figure.js').Facts} */
const factsOf = (rows, now) => {
  const all = rows.flatMap(row => row.segments.map(segment => ({ row, segment })));
  return {
    head: ['Ticket', 'Agent', 'State', 'From', 'Until', 'For', 'Ended'],
    numbers: [5],
    rows: all.map(({ row, segment }) => [
      row.ticket, segment.agent ?? '–', PHASES[segment.state] ?? segment.state, moment(segment.from),
      segment.until === null ? 'goes on' : moment(segment.until),
      span((segment.until === null ? now : Date.parse(segment.until)) - Date.parse(segment.from)),
      (segment.ended && ENDS[segment.ended]?.[1]) ?? null,
    ]),
    csvHead: ['ticket', 'title', 'agent', 'state', 'from_utc', 'until_utc', 'ended'],
    csvRows: all.map(({ row, segment }) => [row.ticket, row.title, segment.agent ?? '', segment.state, segment.from, segment.until, segment.ended]),
  };
};
