// The frame of a plot: its title with unit and zone, the sentence of the mark that is pointed at, and the same facts
// as a table and as CSV.
import { h, useId, useLayoutEffect, useRef, useState } from '../h.js';
import { Outside } from '../ui/outside.js';
import { toCsv } from './scale.js';

/**
 * A table of the facts that a plot shows. `numbers` are right-aligned; `csv` are plainer rows for a program.
 * @typedef {object} Facts
 * @property {string[]} head
 * @property {(string | number | null)[][]} rows As they are read.
 * @property {number[]} [numbers] The columns that are numbers.
 * @property {string[]} [csvHead] The head of the CSV, with units.
 * @property {(string | number | null)[][]} [csvRows]
 */

/** The width of an element, as it changes; 0 before it is known. */
export const useWidth = () => {
  const ref = useRef(/** @type {HTMLElement | null} */ (null));
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const look = () => setWidth(Math.floor(element.getBoundingClientRect().width));
    const observer = new ResizeObserver(look);
    observer.observe(element);
    look();
    return () => observer.disconnect();
  }, []);
  return { ref, width };
};

/**
 * Marks that are one stop of the Tab key: the arrows go from one to the next.
 * @param {number} count
 * @param {(at: number | null) => void} [pointed]
 */
export const useMarks = (count, pointed) => {
  const [at, setAt] = useState(0);
  const stop = Math.min(at, Math.max(0, count - 1));
  /** @param {KeyboardEvent} event */
  const onKeyDown = event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    const next = key === 'ArrowRight' || key === 'ArrowDown' ? stop + 1
      : key === 'ArrowLeft' || key === 'ArrowUp' ? stop - 1
        : key === 'Home' ? 0 : key === 'End' ? count - 1 : null;
    if (next === null || !(event.currentTarget instanceof Element)) return;
    event.preventDefault();
    const mark = event.currentTarget.querySelector(`[data-mark="${Math.max(0, Math.min(count - 1, next))}"]`);
    if (mark instanceof SVGElement) mark.focus();
  };
  /** @param {number} n @param {string} says */
  const mark = (n, says) => ({
    'data-mark': n,
    role: 'img',
    'aria-label': says,
    tabIndex: n === stop ? 0 : -1,
    onFocus: () => {
      setAt(n);
      pointed?.(n);
    },
    onBlur: () => pointed?.(null),
    onPointerEnter: () => pointed?.(n),
    onPointerLeave: () => pointed?.(null),
  });
  return { onKeyDown, mark };
};

/**
 * @param {object} props
 * @param {string} props.title With the unit, and the zone where there are times.
 * @param {Facts} props.facts
 * @param {string} props.file The name of the CSV file, without its ending.
 * @param {string | null} [props.says] The sentence of the mark that is pointed at.
 * @param {string} [props.idle] What stands there while none is.
 * @param {import('../types').Children} [props.legend]
 * @param {import('../types').Children} [props.tools]
 * @param {import('../types').Children} [props.children] The plot.
 */
export const Figure = ({ title, facts, file, says, idle, legend, tools, children }) => {
  const [tabled, setTabled] = useState(false);
  const id = useId();
  return h('figure', { class: 'plot', 'aria-labelledby': id },
    h('div', { class: 'plot-head' },
      h('figcaption', { id }, title),
      h('div', { class: 'plot-tools' },
        tools,
        h('button', { type: 'button', class: 'small', 'aria-pressed': String(tabled), onClick: () => setTabled(!tabled) }, 'Table'),
        h('button', { type: 'button', class: 'small', onClick: () => download(file, facts) }, 'CSV'))),
    tabled ? h(FactTable, { facts, title }) : [
      h('div', { class: 'plot-body', key: 'body' }, children),
      // The line keeps its place while nothing is pointed at, so that nothing moves under the pointer.
      h('p', { class: 'plot-says', 'aria-hidden': 'true', key: 'says' }, says ?? idle ?? ' '),
      legend,
    ]);
};

/** @param {{facts: Facts, title: string}} props */
const FactTable = ({ facts, title }) =>
  h('div', { class: 'table-scroll', tabIndex: 0, role: 'region', 'aria-label': `${title}, as a table` },
    h('table', { class: 'fact-table' },
      h('thead', null, h('tr', null, facts.head.map((name, n) =>
        h('th', { scope: 'col', class: facts.numbers?.includes(n) ? 'number' : undefined }, name)))),
      h('tbody', null, facts.rows.map(row => h('tr', null, row.map((cell, n) =>
        h(n === 0 ? 'th' : 'td', { scope: n === 0 ? 'row' : undefined, class: facts.numbers?.includes(n) ? 'number' : undefined },
          h(Outside, { text: cell === null ? '–' : String(cell) }))))))));

/** @param {string} file @param {Facts} facts */
const download = (file, facts) => save(`${file}.csv`, new Blob(
  [toCsv(facts.csvHead ?? facts.head, facts.csvRows ?? facts.rows)], { type: 'text/csv;charset=utf-8' }));

/** Save bytes as a file of that name. @param {string} name @param {Blob} blob */
export const save = (name, blob) => {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has begun to read it by then; the address holds the bytes in memory.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
};
