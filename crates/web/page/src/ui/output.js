// The output of a run: it follows the end until somebody scrolls, reads older lines when they are looked at, and
// finds text on the server. Only a window of it is in the page.
import { h, useEffect, useLayoutEffect, useMemo, useRef, useState } from '../h.js';
import { Problem, file, get, path, send } from '../api.js';
import { number, time } from '../format.js';
import { useKeys } from '../keymap.js';
import { MOST_LINES, append, hasFolds, prepend, reachesEnd, shown } from '../output_window.js';
import { save } from '../plots/figure.js';
import { repo } from '../router.js';
import { messages } from '../sse.js';
import { several } from '../words.js';
import { Empty, Failed, Loading } from './empty.js';
import { visible } from './outside.js';
import { toast } from './toast.js';

/** @typedef {import('../output_window.js').Window} Window */
/** @typedef {import('../output_window.js').Line} Line */
/** @typedef {{at: number, line: string}} Match */

const LINES = 300;

/** @param {string} run @param {string} rest */
const call = (run, rest) => `${path('r', repo.peek() ?? '', 'runs', run)}/${rest}`;

/** An error as one that can be shown; another is thrown on. @param {unknown} error */
const problemOf = error => {
  if (error instanceof Problem) return error;
  throw error;
};

/** A number of bytes in words. @param {number} bytes */
const size = bytes => (bytes < 1_000 ? `${bytes} B` : bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);

/**
 * @param {object} props
 * @param {string} props.run
 * @param {number | null} [props.from] The byte to begin at, from a link; null for the end.
 * @param {string} [props.label]
 * @param {boolean} [props.part] Whether it is a part of a page, whose lists have the keys of lists.
 */
export const OutputView = ({ run, from = null, label = 'Output', part = false }) => {
  const [held, setHeld] = useState(/** @type {Window | null} */ (null));
  const [problem, setProblem] = useState(/** @type {Problem | null} */ (null));
  const [again, setAgain] = useState(0);
  const [follows, setFollows] = useState(from === null);
  const [fresh, setFresh] = useState(0);
  const [unfolded, setUnfolded] = useState(false);
  const [finds, setFinds] = useState(false);
  const [marked, setMarked] = useState(/** @type {number | null} */ (from));
  /** When the line to the server was lost, in ms; 0 while it is there. */
  const [lost, setLost] = useState(0);
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const following = useRef(follows);
  following.current = follows;
  /** How far the bottom was away before lines were put in above. */
  const keep = useRef(/** @type {number | null} */ (null));
  const busy = useRef(false);
  const window = useRef(held);
  window.current = held;

  // The window that is looked at first: the end, or the place that a link names.
  useEffect(() => {
    const abort = new AbortController();
    setProblem(null);
    get(call(run, `output?from=${from ?? 'end'}&lines=${LINES}`), abort.signal).then(
      answer => {
        setHeld(answer);
        setFresh(0);
      },
      error => abort.signal.aborted || setProblem(problemOf(error)),
    );
    return () => abort.abort();
  }, [run, from, again]);

  // What it printed on standard error is whole once it is over.
  const isDone = held?.done === true;
  useEffect(() => {
    if (!isDone) return undefined;
    const abort = new AbortController();
    get(call(run, 'output?from=end&lines=1'), abort.signal).then(
      ({ errors }) => setHeld(now => now && { ...now, errors }), error => abort.signal.aborted || problemOf(error));
    return () => abort.abort();
  }, [run, isDone, again]);

  // What is printed from now on comes by itself, while the tab is shown.
  const first = held !== null;
  const isOver = held?.done === true && reachesEnd(held);
  useEffect(() => {
    if (!first || isOver) return undefined;
    return follow(run, () => Math.max(window.current?.length ?? 0, 0), more => {
      setLost(0);
      setHeld(now => {
        if (!now) return now;
        // Somebody reads elsewhere: what comes is only counted, so that nothing moves.
        const stays = !following.current && now.lines.length + more.lines.length > 900;
        if (!reachesEnd(now) || stays) return { ...now, length: Math.max(now.length, more.end), done: more.done ?? now.done };
        return append(now, more);
      });
      if (!following.current) setFresh(n => n + more.lines.length);
    }, is => setLost(since => (is ? since || Date.now() : 0)));
  }, [run, first, isOver, again]);

  useLayoutEffect(() => {
    const element = box.current;
    if (!element || !held) return;
    if (keep.current !== null) {
      element.scrollTop = element.scrollHeight - keep.current;
      keep.current = null;
    } else if (follows) element.scrollTop = element.scrollHeight;
  }, [held, follows, unfolded]);

  // The place of a link or of a match is brought into sight once.
  useLayoutEffect(() => {
    if (marked === null || !held) return;
    const lines = [...(box.current?.querySelectorAll('[data-at]') ?? [])];
    const line = lines.findLast(it => Number(it.getAttribute('data-at')) <= marked) ?? lines[0];
    line?.scrollIntoView({ block: 'center' });
  }, [marked, held === null]);

  const older = async () => {
    const now = window.current;
    if (busy.current || !now || now.start <= 0) return;
    busy.current = true;
    try {
      const more = await before(run, now);
      keep.current = box.current ? box.current.scrollHeight - box.current.scrollTop : null;
      setHeld(it => it && prepend(it, more));
    } catch (error) {
      toast(problemOf(error).message, { tone: 'wrong' });
    } finally {
      busy.current = false;
    }
  };

  const newer = async () => {
    const now = window.current;
    if (busy.current || !now || reachesEnd(now)) return;
    busy.current = true;
    try {
      const more = await get(call(run, `output?from=${now.end}&lines=${LINES}`));
      const top = box.current;
      const before = top ? top.scrollHeight - top.scrollTop : 0;
      setHeld(it => it && append(it, more));
      // Lines that were forgotten above would move what is read.
      if (top) requestAnimationFrame(() => { top.scrollTop = Math.min(top.scrollTop, top.scrollHeight - before); });
    } catch (error) {
      toast(problemOf(error).message, { tone: 'wrong' });
    } finally {
      busy.current = false;
    }
  };

  const toEnd = () => {
    setMarked(null);
    setFollows(true);
    setFresh(0);
    if (!held || !reachesEnd(held)) setAgain(n => n + 1);
  };

  const onScroll = () => {
    const element = box.current;
    if (!element || !held) return;
    const below = element.scrollHeight - element.scrollTop - element.clientHeight;
    if (follows && below > 60) setFollows(false);
    else if (!follows && below < 4 && reachesEnd(held) && marked === null) {
      setFollows(true);
      setFresh(0);
    }
    if (element.scrollTop < 120) older();
    if (below < 120 && !reachesEnd(held)) newer();
  };

  /** @param {number} at */
  const goTo = async at => {
    setFollows(false);
    const now = window.current;
    if (!now || at < now.start || at >= now.end) {
      try {
        setHeld(await get(call(run, `output?from=${at}&lines=${LINES}`)));
      } catch (error) {
        toast(problemOf(error).message, { tone: 'wrong' });
        return;
      }
    }
    setMarked(at);
  };

  const raw = async () => {
    try {
      save(`${run}.log`, await file(call(run, 'raw')));
    } catch (error) {
      toast(problemOf(error).message, { tone: 'wrong' });
    }
  };

  const folds = held !== null && hasFolds(held.lines);
  useKeys([
    { key: 'f', label: 'find in the output', run: () => setFinds(true) },
    ...(finds ? [] : [{ key: 'ctrl+f', label: 'find in the output; again for the browser’s own', run: () => setFinds(true) }]),
    ...(folds ? [{ key: 'z', label: unfolded ? 'fold what tools returned' : 'unfold what tools returned', run: () => setUnfolded(!unfolded) }] : []),
    ...(part ? [] : [
      { key: 'G', label: 'to the end, and follow it', run: toEnd },
      { key: 'g g', label: 'to the beginning', run: () => goTo(0) },
    ]),
  ], [part, finds, folds, unfolded, held === null, run]);

  const lines = useMemo(() => shown(held?.lines ?? [], unfolded), [held, unfolded]);

  if (problem && !held) {
    return problem.status === 404
      ? h(Empty, { title: 'Its output is not kept any more.', symbol: '∅' }, problem.message)
      : h(Failed, { problem, retry: () => setAgain(n => n + 1) });
  }
  if (!held) return h(Loading, { rows: 8, label: 'Loading the output' });

  return h('section', { class: 'output', 'aria-label': label },
    h('div', { class: 'output-tools' },
      h('span', { class: 'output-state' },
        lost ? [h('span', { class: 'symbol', 'aria-hidden': 'true' }, '◌ '), `as of ${time(lost)}, reconnecting`]
          : held.done ? 'over' : follows ? [h('span', { class: 'symbol working', 'aria-hidden': 'true' }, '● '), 'follows the end']
            : [h('span', { class: 'symbol', 'aria-hidden': 'true' }, '‖ '), 'stands still']),
      h('span', { class: 'dim output-size' }, size(held.length)),
      h('span', { class: 'spring' }),
      folds && h('button', { type: 'button', class: 'small', 'aria-pressed': String(unfolded), 'aria-keyshortcuts': 'z', onClick: () => setUnfolded(!unfolded) }, 'Unfold'),
      h('button', { type: 'button', class: 'small', 'aria-expanded': String(finds), 'aria-keyshortcuts': 'f', onClick: () => setFinds(!finds) }, 'Find'),
      h('button', { type: 'button', class: 'small', onClick: raw }, 'Raw')),
    finds && h(Find, { run, goTo, close: () => setFinds(false) }),
    h('div', { class: 'output-box', ref: box, onScroll, tabIndex: 0, role: 'region', 'aria-label': `${label}, lines` },
      held.start > 0
        ? h('button', { type: 'button', class: 'quiet small output-more', onClick: older }, 'Older lines')
        : h('p', { class: 'output-edge' }, lines.length ? 'beginning' : 'Nothing was printed yet.'),
      h('div', { class: 'output-lines' }, lines.map((line, n) => h(OutputLine, { key: keyOf(lines, n), line, marked: marked === line.at }))),
      reachesEnd(held) && held.errors && held.errors.length > 0 && h('div', { class: 'output-lines output-errors' },
        h('p', { class: 'output-edge' }, 'standard error'), held.errors.map((text, n) => h('div', { key: n, class: 'out out-trouble', dir: 'auto' }, visible(text) || ' '))),
      !reachesEnd(held) && h('button', { type: 'button', class: 'quiet small output-more', onClick: newer }, 'Newer lines')),
    !follows && !(held.done && fresh === 0 && reachesEnd(held)) && h('button', { type: 'button', class: 'output-end', onClick: toEnd },
      h('span', { 'aria-hidden': 'true' }, '↓ '),
      fresh > 0 ? several(fresh, '# new line', `${number(fresh)} new lines`) : 'To the end'));
};

/**
 * Some lines before a window: places are bytes, so that it is estimated where they begin.
 * @param {string} run @param {Window} window @returns {Promise<{lines: Line[], start: number}>}
 */
const before = async (run, window) => {
  const each = (window.end - window.start) / Math.max(1, window.lines.length);
  for (let back = Math.max(2_000, each * LINES); ; back *= 4) {
    const from = Math.max(0, Math.floor(window.start - back));
    /** @type {Line[]} */
    const lines = [];
    let start = from;
    for (let at = from; at < window.start;) {
      const more = await get(call(run, `output?from=${at}&lines=${MOST_LINES}`));
      if (at === from) start = Math.min(more.start, more.lines[0]?.at ?? more.start);
      lines.push(...more.lines.filter((/** @type {Line} */ line) => line.at < window.start));
      if (more.end <= at) break;
      at = more.end;
    }
    if (lines.length > 0 || from === 0) return { lines, start: from === 0 ? 0 : start };
  }
};

/** @param {{line: Line, marked: boolean}} props */
const OutputLine = ({ line, marked }) => h('div', {
  class: `out out-${line.look}${marked ? ' marked' : ''}`, 'data-at': line.at, dir: 'auto',
  style: line.indent ? { paddingInlineStart: `${Math.min(40, line.indent)}ch` } : undefined,
}, line.time && h('time', { dateTime: line.time, class: 'out-time' }, time(line.time)), visible(line.text) || ' ');

/**
 * @param {string} run
 * @param {() => number} place The byte to go on from.
 * @param {(more: {lines: Line[], end: number, done?: boolean}) => void} take
 * @param {(lost: boolean) => void} setLost
 */
const follow = (run, place, take, setLost) => {
  let ends = false;
  let tries = 0;
  /** @type {AbortController | null} */
  let connection = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const connect = async () => {
    if (ends || document.visibilityState === 'hidden' || connection) return;
    const mine = new AbortController();
    connection = mine;
    let done = false;
    try {
      const response = await send('GET', call(run, `follow?from=${place()}`), undefined, mine.signal);
      tries = 0;
      setLost(false);
      await messages(response, {
        take: ({ event, data }) => {
          if (event === 'lines') take(JSON.parse(data));
          else if (event === 'done') {
            done = true;
            take({ lines: [], end: place(), done: true });
          }
        },
      });
    } catch (error) {
      if (!(error instanceof Problem) && !mine.signal.aborted && !(error instanceof TypeError)) throw error;
      if (error instanceof Problem && [401, 403, 404].includes(error.status)) ends = true;
      if (!ends && !mine.signal.aborted) setLost(true);
    }
    connection = null;
    if (done || ends) return;
    timer = setTimeout(connect, Math.min(15_000, 500 * 2 ** tries));
    tries += 1;
  };
  const look = () => {
    if (document.visibilityState === 'hidden') connection?.abort();
    else {
      clearTimeout(timer);
      connect();
    }
  };
  document.addEventListener('visibilitychange', look);
  connect();
  return () => {
    ends = true;
    clearTimeout(timer);
    connection?.abort();
    document.removeEventListener('visibilitychange', look);
  };
};

/** Lines of one entry begin at the same byte. @param {readonly Line[]} lines @param {number} n */
const keyOf = (lines, n) => {
  let same = 0;
  while (lines[n - same - 1]?.at === lines[n]?.at) same += 1;
  return `${lines[n]?.at} ${same}`;
};

/** Find in the whole output, on the server. @param {{run: string, goTo: (at: number) => void, close: () => void}} props */
const Find = ({ run, goTo, close }) => {
  const [text, setText] = useState('');
  const [found, setFound] = useState(/** @type {{q: string, matches: Match[], next: number | null} | null} */ (null));
  const [at, setAt] = useState(-1);
  const [searching, setSearching] = useState(false);
  const [problem, setProblem] = useState(/** @type {Problem | null} */ (null));
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => field.current?.focus(), []);

  /** @param {number | null} from */
  const find = async from => {
    const q = text;
    if (q === '') return;
    setSearching(true);
    setProblem(null);
    try {
      const answer = await get(call(run, `find?q=${encodeURIComponent(q)}${from === null ? '' : `&from=${from}`}`));
      const matches = [...(from === null ? [] : (found?.matches ?? [])), ...answer.matches];
      setFound({ q, matches, next: answer.next });
      const to = from === null ? 0 : at + 1;
      if (matches[to]) {
        setAt(to);
        goTo(matches[to].at);
      } else setAt(-1);
    } catch (error) {
      setProblem(problemOf(error));
    } finally {
      setSearching(false);
    }
  };
  /** @param {number} by */
  const step = by => {
    if (!found || found.q !== text) return find(null);
    const to = at + by;
    if (to >= found.matches.length && found.next !== null) return find(found.next);
    const match = found.matches[(to + found.matches.length) % Math.max(1, found.matches.length)];
    if (!match) return undefined;
    setAt(found.matches.indexOf(match));
    goTo(match.at);
    return undefined;
  };
  const says = searching ? 'searching…' : problem ? problem.message
    : !found || found.q !== text ? '' : found.matches.length === 0 ? 'not found'
      : `${at + 1} of ${number(found.matches.length)}${found.next === null ? '' : ' and more'}`;
  return h('form', { class: 'output-find', role: 'search', onSubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    step(1);
  }, onKeyDown: (/** @type {KeyboardEvent} */ event) => {
    if (event.key === 'Escape') {
      event.stopPropagation();
      close();
    } else if (event.key === 'Enter' && event.shiftKey) {
      event.preventDefault();
      step(-1);
    }
  } },
  h('input', { ref: field, type: 'search', 'aria-label': 'Find in the whole output', placeholder: 'Find in the whole output', value: text,
    onInput: (/** @type {Event & {currentTarget: HTMLInputElement}} */ event) => setText(event.currentTarget.value) }),
  h('span', { class: 'dim find-says', role: 'status' }, says),
  h('button', { type: 'button', class: 'small', 'aria-label': 'Previous match', onClick: () => step(-1) }, '↑'),
  h('button', { type: 'submit', class: 'small', 'aria-label': 'Next match' }, '↓'),
  h('button', { type: 'button', class: 'quiet small', onClick: close }, 'Close'));
};
