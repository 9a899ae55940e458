// A list of any length: a table of which only the rows near the window are drawn. Nothing moves under the
// pointer:
// while it is hovered, focused or scrolled, its order stands still, and new rows wait behind a button.
import { h, useLayoutEffect, useRef, useState } from '../h.js';
import { returned } from '../router.js';
import { words } from '../words.js';

/** How far the lists were scrolled, by address. @type {Map<string, number>} */
const scrolls = new Map();

/** Rows that are drawn beyond the window, each way. */
const BEYOND = 12;

/**
 * What is listed: `doc`s of one kind.
 * @typedef {object} Props
 * @property {string} label What is listed, for those who do not see it.
 * @property {string} class Its columns' widths are by this class.
 * @property {string[]} columns The heads of the columns.
 * @property {string[]} keys The order in which to show.
 * @property {Map<string, any>} docs The documents by key.
 * @property {(doc: any, key: string) => import('../types').Children[]} cells A row's cells.
 * @property {(doc: any) => string} [tone] A class for the row.
 * @property {string | null} [current] The key of the row whose detail is shown.
 * @property {boolean} [memo] Whether a row depends on its document alone: it is then drawn anew only with
 *   that.
 * @property {unknown} [order] What a person chose: where it changes, rows are put in order at once.
 * @property {import('../types').Children} [empty] Shown where there are no rows.
 */

/**
 * The rows that wait: taken up when it is pressed. Like an act, it rests for a moment when it has just come.
 * @param {{count: number, takeUp: () => void}} props
 */
const Fresh = ({ count, takeUp }) => {
  const came = useRef(performance.now());
  const press = () => {
    if (performance.now() - came.current > 400) takeUp();
  };
  return h('button', { type: 'button', class: 'fresh', onClick: press }, `${words.fresh(count)} ↑`);
};

/** @param {Props} props */
export const List = ({ label, columns, keys, docs, cells, tone, current, order, empty, memo = false, ...rest }) => {
  const body = useRef(/** @type {HTMLElement | null} */ (null));
  const [hovered, setHovered] = useState(false);
  const [focused, setFocused] = useState(/** @type {string | null} */ (null));
  const [{ first, last, height, scrolled }, setRange] = useState({ first: 0, last: 40, height: 0, scrolled: false });
  const held = useRef(/** @type {{keys: string[], docs: Map<string, any>, order: unknown}} */ (
    { keys: [], docs: new Map(), order: undefined }));

  const drawnRows = useRef(/** @type {Map<string, {doc: any, n: number, tall: number, marks: string, row: any}>} */ (new Map()));

  const busy = hovered || focused !== null || scrolled;
  const was = held.current;
  const stands = busy && was.keys.length > 0 && was.order === order;
  if (!stands) held.current = { keys, docs: new Map(), order };
  const shown = held.current.keys;
  // What has left is kept for as long as its row stands.
  for (const key of shown) {
    const doc = docs.get(key);
    if (doc !== undefined) held.current.docs.set(key, doc);
  }
  const known = stands ? new Set(shown) : null;
  const fresh = known ? keys.filter(key => !known.has(key)).length : 0;
  const count = shown.length;

  useLayoutEffect(() => {
    const pane = body.current?.closest('.pane');
    if (!pane || !body.current) return undefined;
    const look = () => {
      const it = body.current;
      if (!it) return;
      const row = /** @type {HTMLElement | null} */ (it.querySelector('[data-row]'));
      const tall = row?.offsetHeight || 36;
      const top = it.getBoundingClientRect().top - pane.getBoundingClientRect().top;
      const next = {
        first: Math.max(0, Math.floor(-top / tall) - BEYOND),
        last: Math.ceil((pane.clientHeight - top) / tall) + BEYOND,
        height: tall,
        scrolled: pane.scrollTop > 8 && top < 0,
      };
      setRange(old => (old.first === next.first && old.last === next.last && old.height === tall
        && old.scrolled === next.scrolled ? old : next));
    };
    const scroll = () => {
      scrolls.set(location.pathname + location.search, pane.scrollTop);
      look();
    };
    look();
    const was = returned ? scrolls.get(location.pathname + location.search) : undefined;
    if (was) requestAnimationFrame(() => pane.scrollTo({ top: was }));
    pane.addEventListener('scroll', scroll, { passive: true });
    const sizes = new ResizeObserver(look);
    sizes.observe(pane);
    sizes.observe(body.current);
    return () => {
      pane.removeEventListener('scroll', scroll);
      sizes.disconnect();
    };
  }, [count === 0]);

  const takeUp = () => {
    held.current = { keys: [], docs: new Map(), order };
    const pane = body.current?.closest('.pane');
    pane?.scrollTo({ top: 0 });
    setFocused(null);
    setHovered(false);
  };

  if (count === 0 && empty) return h('div', { class: `list ${rest.class}` }, empty);

  const drawn = [];
  for (let n = first; n < Math.min(last, count); n += 1) drawn.push(n);
  // The row with the focus stays, wherever it is scrolled to.
  const kept = focused === null ? -1 : shown.indexOf(focused);
  if (kept >= 0 && (kept < first || kept >= last)) drawn.push(kept);

  /** @type {typeof drawnRows.current} */
  const rows = new Map();
  const before = drawnRows.current;
  drawnRows.current = rows;
  return h('div', {
    class: `list ${rest.class} ${scrolled ? 'is-scrolled' : ''}`,
    onPointerEnter: (/** @type {PointerEvent} */ event) => event.pointerType === 'mouse' && setHovered(true),
    onPointerLeave: () => setHovered(false),
  },
    h('div', { class: 'fresh-place' }, fresh > 0 && h(Fresh, { count: fresh, takeUp })),
    h('div', {
      role: 'table', 'aria-label': label, 'aria-rowcount': count + 1, class: 'table',
      onFocusIn: (/** @type {FocusEvent} */ event) => {
        const row = event.target instanceof Element ? event.target.closest('[data-row]') : null;
        setFocused(row?.getAttribute('data-row') ?? null);
      },
      onFocusOut: (/** @type {FocusEvent} */ event) => {
        if (!(event.relatedTarget instanceof Node) || !body.current?.contains(event.relatedTarget)) setFocused(null);
      },
    },
    h('div', { role: 'rowgroup', class: 'table-head' },
      h('div', { role: 'row', 'aria-rowindex': 1, class: 'row' },
        columns.map(column => h('div', { key: column, role: 'columnheader' }, column)))),
    h('div', { role: 'rowgroup', class: 'table-body', ref: body, style: { height: `${count * (height || 36)}px` } },
      drawn.map(n => {
        const key = shown[n];
        const doc = held.current.docs.get(key);
        if (doc === undefined) return null;
        const gone = !docs.has(key);
        const tall = height || 36;
        const marks = `${tone?.(doc) ?? ''} ${gone ? 'gone' : ''} ${key === current ? 'current' : ''}`;
        const was = memo ? before.get(key) : undefined;
        if (was && was.doc === doc && was.n === n && was.tall === tall && was.marks === marks) {
          rows.set(key, was);
          return was.row;
        }
        const row = h('div', {
          key, role: 'row', 'aria-rowindex': n + 2, 'data-row': key,
          class: `row ${tone?.(doc) ?? ''} ${gone ? 'gone' : ''}`,
          'aria-current': key === current ? 'true' : undefined,
          style: { transform: `translateY(${n * tall}px)` },
        }, cells(doc, key).map((cell, at) => h('div', { key: at, role: 'cell', class: `c${at}` }, cell)));
        rows.set(key, { doc, n, tall, marks, row });
        return row;
      }))));
};
