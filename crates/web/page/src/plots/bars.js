// Bars by day, stacked: one mark for each day, with its sentence.
import { h, useId, useState } from '../h.js';
import { Outside } from '../ui/outside.js';
import { Figure, useMarks, useWidth } from './figure.js';
import { buckets, niceTicks } from './scale.js';

/**
 * @typedef {object} Part
 * @property {string} name
 * @property {number} value
 * @property {number} [estimated] The part of the value that is an estimate.
 */

/**
 * @typedef {object} Bar
 * @property {string} label What it belongs to: a day.
 * @property {Part[]} parts From the bottom up; all bars have the same names, at the same places.
 * @property {string} says
 */

const HEIGHT = 176;
const MARGIN = { top: 10, right: 4, bottom: 22, left: 52 };

/**
 * @param {object} props
 * @param {string} props.title
 * @param {Bar[]} props.bars
 * @param {import('./figure.js').Facts} props.facts
 * @param {string} props.file
 * @param {(value: number) => string} props.format
 * @param {(label: string) => string} props.short The label below a bar.
 * @param {{value: number, label: string} | null} [props.limit] A line across.
 * @param {import('../types').Children} [props.tools]
 */
export const Bars = ({ title, bars, facts, file, format, short, limit, tools }) => {
  const { ref, width } = useWidth();
  const [at, setAt] = useState(/** @type {number | null} */ (null));
  const hatch = useId();
  const groups = buckets(bars).map(joined);
  const { onKeyDown, mark } = useMarks(groups.length, setAt);
  const totals = groups.map(bar => sum(bar.parts));
  const highest = Math.max(0, ...totals);
  // A limit that is far away would press the bars flat; it is then said, not drawn.
  const drawn = limit && highest > 0 && limit.value <= highest * 4 ? limit : null;
  const ticks = niceTicks(Math.max(highest, drawn?.value ?? 0));
  const top = ticks.at(-1) ?? 1;
  const inner = { w: Math.max(0, width - MARGIN.left - MARGIN.right), h: HEIGHT - MARGIN.top - MARGIN.bottom };
  const band = groups.length ? inner.w / groups.length : 0;
  const thick = Math.max(1, Math.min(44, band - Math.min(6, band * 0.25)));
  const y = (/** @type {number} */ value) => MARGIN.top + inner.h * (1 - value / top);
  const every = Math.max(1, Math.ceil(52 / Math.max(1, band)));
  const names = groups[0]?.parts.map(part => part.name) ?? [];
  const isEstimated = groups.some(bar => bar.parts.some(part => part.estimated));

  const plot = h('svg', { class: 'bars', width, height: HEIGHT, role: 'group', 'aria-label': title, onKeyDown },
    h('defs', null, h('pattern', { id: hatch, width: 5, height: 5, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
      h('rect', { width: 2, height: 5, class: 'hatch' }))),
    ticks.map(tick => h('g', { class: 'tick', 'aria-hidden': 'true' },
      h('line', { x1: MARGIN.left, x2: width - MARGIN.right, y1: y(tick), y2: y(tick) }),
      h('text', { x: MARGIN.left - 8, y: y(tick), dy: '0.32em', 'text-anchor': 'end' }, format(tick)))),
    groups.map((bar, n) => {
      const x = MARGIN.left + band * n + (band - thick) / 2;
      let below = 0;
      return h('g', { class: 'bar', ...mark(n, bar.says) },
        h('rect', { class: 'touch', x: MARGIN.left + band * n, y: MARGIN.top, width: band, height: inner.h }),
        bar.parts.map((part, place) => {
          if (!(part.value > 0)) return null;
          const [from, to] = [y(below), y(below + part.value)];
          const estimated = Math.min(part.value, part.estimated ?? 0);
          const hatched = y(below + part.value - estimated) - to;
          below += part.value;
          return h('g', null,
            h('rect', { class: `series-${place % 8}`, x, y: to, width: thick, height: Math.max(1, from - to) }),
            hatched > 0 && h('rect', { x, y: to, width: thick, height: Math.max(1, hatched), fill: `url(#${hatch})` }));
        }),
        n % every === 0 && h('text', { class: 'label', x: MARGIN.left + band * (n + 0.5), y: HEIGHT - 6, 'text-anchor': 'middle', 'aria-hidden': 'true' },
          short(bar.label)));
    }),
    drawn && h('g', { class: 'limit', 'aria-hidden': 'true' },
      h('line', { x1: MARGIN.left, x2: width - MARGIN.right, y1: y(drawn.value), y2: y(drawn.value) }),
      h('text', { x: width - MARGIN.right, y: y(drawn.value) + (y(drawn.value) < 18 ? 13 : -5), 'text-anchor': 'end' }, drawn.label)));

  const legend = h('ul', { class: 'legend' },
    names.length > 1 && names.map((name, place) => h('li', null, h(Swatch, { series: place % 8 }), h(Outside, { text: name }))),
    isEstimated && h('li', null, h(Swatch, { series: 0, hatched: true }), 'estimated'),
    limit && !drawn && h('li', { class: 'quiet' }, limit.label));

  return h(Figure, {
    title, facts, file, tools, legend,
    says: at === null ? null : groups[at]?.says,
    idle: 'Point at a bar, or go to it with Tab and the arrow keys.',
  }, h('div', { ref, class: 'plot-width' }, width > 0 && plot));
};

/** @param {{series: number, hatched?: boolean}} props */
const Swatch = ({ series, hatched }) => {
  const id = useId();
  return h('svg', { class: 'swatch', width: 12, height: 12, 'aria-hidden': 'true' },
    hatched && h('defs', null, h('pattern', { id, width: 5, height: 5, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
      h('rect', { width: 2, height: 5, class: 'hatch' }))),
    h('rect', { class: `series-${series}`, width: 12, height: 12 }),
    hatched && h('rect', { width: 12, height: 12, fill: `url(#${id})` }));
};

/** @param {Part[]} parts */
const sum = parts => parts.reduce((all, part) => all + part.value, 0);

/** Several bars as one. @param {Bar[]} bars @returns {Bar} */
const joined = bars => {
  const [first] = bars;
  if (!first || bars.length === 1) return first ?? { label: '', parts: [], says: '' };
  const parts = first.parts.map((part, place) => ({
    name: part.name,
    value: bars.reduce((all, bar) => all + (bar.parts[place]?.value ?? 0), 0),
    estimated: bars.reduce((all, bar) => all + (bar.parts[place]?.estimated ?? 0), 0),
  }));
  return { label: first.label, parts, says: bars.map(bar => bar.says).join(' ') };
};
