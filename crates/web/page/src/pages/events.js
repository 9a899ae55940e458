// The journal: everything that happened, newest first. What is new comes by itself while nobody looks closer.
import { Fragment, h, useEffect, useRef, useState } from '../h.js';
import { Problem, get, path } from '../api.js';
import { moment, number, time, whole } from '../format.js';
import { useKeys } from '../keymap.js';
import { at, query, repo, route } from '../router.js';
import { cut, rows, seqOf } from '../store.js';
import { several } from '../words.js';
import { Empty, Failed, Loading } from '../ui/empty.js';
import { PageHead } from '../ui/head.js';
import { useWide } from '../ui/media.js';
import { Outside, visible } from '../ui/outside.js';
import { useGet } from '../ui/use_get.js';
import '../style.js';

/** @typedef {import('../types').Event} Event */

const PAGE = 100;
/** Rows that are kept in the page: older ones are read again. */
const MOST = 1_000;

export const Page = () => {
  const { query: words, hash } = route.value;
  const [stream, kind] = [words.get('stream') ?? '', words.get('kind') ?? ''];
  const opened = /^\d+$/.test(hash) ? Number(hash) : null;
  const wide = useWide();
  const detail = opened !== null && h(Detail, { key: opened, seq: opened });
  return h('div', { class: wide ? 'split events-page' : 'events-page' },
    h('div', { class: 'pane master' },
      h(PageHead, { title: 'Events' }),
      h(Journal, { key: repo.value, stream, kind, opened, under: wide ? null : detail })),
    wide && h('div', { class: 'pane detail', 'aria-label': 'The event', role: 'region' },
      detail || h(Empty, { title: 'Choose an event to see what it says and what it ordered.', symbol: '☰' })));
};

/** Change the address of a filter once nothing was typed for a moment. @param {{stream: string, kind: string}} props */
const Filters = ({ stream, kind }) => {
  const timer = useRef(/** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined));
  /** @param {string} name @returns {(event: globalThis.Event & {currentTarget: HTMLInputElement}) => void} */
  const typed = name => event => {
    const { value } = event.currentTarget;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => query({ [name]: value.trim() }), 250);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return h('form', { class: 'filters', role: 'search', onSubmit: (/** @type {globalThis.Event} */ event) => event.preventDefault() },
    h('label', null, h('span', null, 'Of'), h('input', { type: 'search', value: stream, placeholder: 't-12, or project', onInput: typed('stream') })),
    h('label', null, h('span', null, 'Kind'), h('input', { type: 'search', value: kind, placeholder: 'step started', onInput: typed('kind') })),
    (stream || kind) && h('button', { type: 'button', class: 'small', onClick: () => query({ stream: null, kind: null }) }, 'Show all'));
};

/** @param {{stream: string, kind: string, opened: number | null, under: import('../types').Children}} props */
const Journal = ({ stream, kind, opened, under }) => {
  const [events, setEvents] = useState(/** @type {Event[] | null} */ (null));
  const [next, setNext] = useState(/** @type {number | null} */ (null));
  const [fresh, setFresh] = useState(/** @type {Event[]} */ ([]));
  const [problem, setProblem] = useState(/** @type {Problem | null} */ (null));
  const [stands, setStands] = useState(false);
  const [old, setOld] = useState(false);
  const [reading, setReading] = useState(false);
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  /** Rows that have come and are not in the list, newest first; and the newest that is. */
  const came = useRef({ events: /** @type {Event[]} */ ([]), after: 0 });
  const loads = useRef(0);

  const of = stream === '' || stream === 'project' || stream.includes('/') ? stream : `ticket/${stream}`;
  const name = kind.replaceAll(' ', '_');

  /** @param {string} range */
  const call = range => {
    const filter = `${of && `&stream=${encodeURIComponent(of)}`}${name && `&kind=${encodeURIComponent(name)}`}`;
    return get(`${path('r', repo.peek() ?? '', 'events')}?limit=${PAGE}${filter}${range}`);
  };

  const load = async (mayBeOld = true) => {
    const mine = ++loads.current;
    setProblem(null);
    setEvents(null);
    setFresh([]);
    came.current = { events: [], after: 0 };
    try {
      // A link to an old event shows it among those around it, and the way to the newest.
      const isOld = mayBeOld && opened !== null && seqOf(cut.peek()) - opened > PAGE * 0.75;
      const answer = await call(isOld ? `&before=${opened + PAGE / 4}` : '');
      // Meanwhile another filter may have been chosen.
      if (mine !== loads.current) return;
      came.current.after = answer.events[0]?.seq ?? 0;
      setOld(isOld);
      setEvents(answer.events);
      setNext(answer.next ?? null);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (mine === loads.current) setProblem(error);
    }
  };
  useEffect(() => { load(); }, [of, name]);

  /** Whether somebody looks closer, so that nothing may move, or has not taken up what came meanwhile. */
  const waits = fresh.length > 0;
  const isBusy = () => {
    const element = list.current;
    return stands || waits || !element || element.matches(':hover, :focus-within') || (element.closest('.pane')?.scrollTop ?? 0) > 8;
  };

  // However fast rows come, they are shown every so often.
  const isThere = events !== null && !old;
  useEffect(() => {
    let timer = 0;
    const show = () => {
      timer = 0;
      const more = came.current.events.filter(({ seq }) => seq > came.current.after);
      came.current = { events: [], after: more[0]?.seq ?? came.current.after };
      if (more.length === 0) return;
      if (isBusy()) setFresh(was => [...more, ...was].slice(0, MOST));
      else setEvents(was => [...more, ...(was ?? [])].slice(0, MOST));
    };
    /** @param {any} row */
    const take = ({ detail: event }) => {
      if ((of && event.stream !== of) || (name && event.kind !== name)) return;
      came.current.events = [event, ...came.current.events].slice(0, MOST);
      if (isThere) timer ||= setTimeout(show, 200);
    };
    const miss = () => (isBusy() ? setOld(true) : load(false));
    if (isThere) show();
    rows.addEventListener('row', take);
    rows.addEventListener('gap', miss);
    return () => {
      clearTimeout(timer);
      rows.removeEventListener('row', take);
      rows.removeEventListener('gap', miss);
    };
  }, [of, name, isThere, stands, waits]);

  // The event of a link is brought into sight, once.
  const isRead = events !== null;
  useEffect(() => {
    if (isRead && opened !== null) list.current?.querySelector('.opened')?.scrollIntoView({ block: 'center' });
  }, [isRead]);

  const takeUp = () => {
    setEvents(was => [...fresh, ...(was ?? [])].slice(0, MOST));
    setFresh([]);
    setStands(false);
    list.current?.closest('.pane')?.scrollTo({ top: 0 });
  };

  const older = async () => {
    if (next === null) return;
    setReading(true);
    setProblem(null);
    try {
      const answer = await call(`&before=${next}`);
      setEvents(was => [...(was ?? []), ...answer.events]);
      setNext(answer.next ?? null);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setProblem(error);
    } finally {
      setReading(false);
    }
  };

  useKeys([
    { key: 'h', label: stands ? 'let the journal go on' : 'hold the journal still', run: () => (stands ? takeUp() : setStands(true)) },
  ], [stands, fresh, events]);

  const tools = h('div', { class: 'journal-tools' },
    h(Filters, { stream, kind }),
    h('button', { type: 'button', 'aria-pressed': String(stands), 'aria-keyshortcuts': 'h', onClick: () => (stands ? takeUp() : setStands(true)) },
      stands ? 'Go on' : 'Hold still', h('kbd', { 'aria-hidden': 'true' }, 'h')),
    old && h('button', { type: 'button', class: 'fresh', onClick: () => load(false) }, 'To the newest ↑'),
    fresh.length > 0 && h('button', { type: 'button', class: 'fresh', onClick: takeUp }, `${several(fresh.length, '# new', `${number(fresh.length)} new`)} ↑`));
  if (events === null) return [tools, problem ? h(Failed, { problem, retry: () => load() }) : h(Loading, { rows: 12, label: 'Loading the journal' })];
  if (events.length === 0 && fresh.length === 0 && next === null) {
    return [tools, stream || kind
      ? h(Empty, { title: 'No event is like this.', symbol: '∅' }, 'It is of a ticket, by its whole id, or of the “project”; its kind is a whole one, such as “step started”.')
      : h(Empty, { title: 'Nothing has happened yet.', symbol: '○' })];
  }
  return [tools, h('div', { class: 'journal', ref: list },
    h('ol', { class: 'events', 'aria-label': 'Events, newest first' }, events.map((event, n) => h(Fragment, { key: event.seq },
      isOtherDay(event, events[n - 1]) && h('li', { class: 'day' }, dayOf(event.at)),
      h('li', { 'data-row': event.seq, class: `event${event.seq === opened ? ' opened' : ''}` },
        h(Row, { event, opened: event.seq === opened }),
        event.seq === opened && under && h('div', { class: 'event-under' }, under))))),
    problem && h(Failed, { problem, retry: older }),
    next !== null && !problem
      ? h('button', { type: 'button', class: 'older', 'aria-disabled': String(reading), onClick: () => reading || older() }, reading ? 'Reading…' : 'Older events')
      : !problem && h('p', { class: 'dim journal-end' }, 'The beginning of the journal.'))];
};

/** @param {{event: Event, opened: boolean}} props */
const Row = ({ event, opened }) => h('a', {
  href: `${location.pathname}${location.search}${opened ? '' : `#${event.seq}`}`, class: 'event-row', 'aria-expanded': String(opened),
  'aria-current': opened ? 'true' : undefined,
  onClick: (/** @type {MouseEvent} */ click) => {
    if (click.ctrlKey || click.metaKey || click.shiftKey || click.button) return;
    click.preventDefault();
    history.replaceState(null, '', `${location.pathname}${location.search}${opened ? '' : `#${event.seq}`}`);
    dispatchEvent(new HashChangeEvent('hashchange'));
  },
},
h('span', { class: 'seq' }, number(event.seq)),
h('time', { dateTime: event.at, title: whole(event.at) }, time(event.at)),
h(Stream, { stream: event.stream }),
h('span', { class: 'kind' }, h(Outside, { text: event.kind.replaceAll('_', ' ') })),
h('span', { class: 'says' }, h(Outside, { text: event.says })));

/** @param {{stream: string}} props */
const Stream = ({ stream }) => h('span', { class: 'stream' }, h(Outside, { text: stream.replace(/^ticket\//, '') }));

/** @param {Event} event @param {Event | undefined} before */
const isOtherDay = (event, before) => before !== undefined && new Date(event.at).toDateString() !== new Date(before.at).toDateString();

const dayName = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' });
/** @param {string} moment */
const dayOf = moment => dayName.format(new Date(moment));

/** One event: what it says, what it ordered, and its fields. @param {{seq: number}} props */
const Detail = ({ seq }) => {
  const { data: event, problem, retry } = useGet(path('r', repo.value ?? '', 'events', String(seq)));
  if (problem) {
    return problem.status === 404
      ? h(Empty, { title: `The journal has no event ${number(seq)}.`, symbol: '∅' })
      : h(Failed, { problem, retry });
  }
  if (!event) return h(Loading, { rows: 4, label: 'Loading the event' });
  const ticket = event.stream.startsWith('ticket/') ? event.stream.slice('ticket/'.length) : null;
  return h('article', { class: 'event-detail' },
    h('h2', null, h(Outside, { text: event.says })),
    h('dl', { class: 'facts' },
      pair('Row', `${number(event.seq)}`),
      pair('When', h('time', { dateTime: event.at, title: event.at }, `${whole(event.at)}${typeof event.at_ms === 'number' ? `, ${event.at_ms % 1000} ms` : ''}`)),
      pair('Of', ticket ? h('a', { href: at('t', ticket) }, h(Outside, { text: event.stream })) : h(Outside, { text: event.stream })),
      pair('Version', number(event.version)),
      pair('Kind', h('code', null, event.kind)),
      event.cause && pair('Cause', h(Outside, { text: event.cause })),
      pair('State after it', h('code', null, h(Outside, { text: event.state })))),
    h('h3', null, event.effects?.length ? several(event.effects.length, 'It ordered one effect', 'It ordered # effects') : 'It ordered nothing'),
    event.effects?.length > 0 && h('ol', { class: 'effects' }, event.effects.map((/** @type {{says: string, effect: unknown}} */ effect, /** @type {number} */ n) =>
      h('li', { key: n }, h('details', null, h('summary', null, h(Outside, { text: effect.says })), h(Json, { value: effect.effect }))))),
    h('h3', null, 'Its fields'),
    h('p', { class: 'dim' }, 'As the journal keeps them: moments are milliseconds since 1970.'),
    h(Json, { value: event.event }));
};

/** @param {string} name @param {import('../types').Children} value */
const pair = (name, value) => [h('dt', null, name), h('dd', null, value)];

/** @param {{value: unknown}} props */
const Json = ({ value }) => h('pre', { class: 'printed', tabIndex: 0 }, visible(JSON.stringify(value, null, 2) ?? 'null'));
