// Following the server: one stream a browser. The tab that holds the lock streams and passes frames on to the
// others.
import { effect } from './h.js';
import { Problem, authorization, base, get, path, problemOf, send, session, skew } from './api.js';
import { keep, kept } from './prefs.js';
import { SILENCE, messages } from './sse.js';
import { after, apply, cut, forget, live, loaded, now, reach, replace, repo, repos, tellRows, unread } from './store.js';
import { toast } from './ui/toast.js';

/** @typedef {{event: string, data: any, id: string}} Frame */

/** How often a leader that hears nothing says that it is there; the others wait so much longer than it. */
const BEAT = 3_000;
const LOCK = `crew-stream ${base}`;

/** The frames of the cut that has no mark yet. @type {Frame[]} */
let open = [];
/** Cuts that came while a view is read. @type {{frames: Frame[], id: string}[]} */
let early = [];
let reading = false;
/** The id of the last mark: the cuts of all repositories, where there are several. */
let last = '';
let leads = false;
/** The epoch of the server that greeted last; '' where none did. */
let epoch = '';
/** Whether something answers of which it is not known yet whether it is the server of what is shown. */
let unsure = false;
/** Whether another server has greeted than that of what is shown, which is not read anew yet. */
let foreign = false;
/** Kept once the repositories of a new server are known: its view is read after them. @type {Promise<void>} */
let known = Promise.resolve();
/** When this tab last heard of the server, from it or through the leader. */
let heard = Date.now();
/** When somebody last tried to hear of it: a connection begins, or the leader says that it has none. */
let tried = 0;
/** Ends the connection of the leader. @type {AbortController | null} */
let connection = null;
/** Ends the wait before the next try. @type {(() => void) | null} */
let hurry = null;

const channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel(LOCK) : null;

/** @param {Partial<import('./types').Live>} some */
const stand = some => {
  const was = live.peek();
  const changes = some.state !== undefined && some.state !== was.state;
  // What is shown was last known to be true when something was heard.
  live.value = { ...was, ...(changes ? { since: Date.now(), asOf: loaded.peek() ? heard : 0 } : {}), ...some };
};

/** What is shown is what holds now. */
const fresh = () => {
  heard = Date.now();
  if (loaded.peek() && !unsure && !foreign && live.peek().state !== 'live') stand({ state: 'live', tries: 0 });
};

/** Pass something on to the other tabs. @param {object} message */
const pass = message => channel?.postMessage(message);

/** How an id names a repository. @param {string} id */
const named = id => encodeURIComponent(id).replace(/[!'()*~]/g, sign => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

/** The parts of an id: `EPOCH.SEQ.N`, or `name:EPOCH.SEQ.N` of each repository. @param {string} id */
const partsOf = id => new Map(id.split(',').filter(Boolean).map(part => {
  const colon = part.lastIndexOf(':');
  return /** @type {[string, string]} */ ([part.slice(0, Math.max(colon, 0)), part.slice(colon + 1)]);
}));

/** The cut of the repository that is shown. @param {string} id */
const cutIn = id => {
  const parts = partsOf(id);
  return parts.get(named(repo.peek() ?? '')) ?? parts.get('') ?? id;
};

/** Where to go on: the last mark, with what is shown of the repository that is shown. */
const place = () => {
  const shown = cut.peek();
  if ((repos.peek()?.length ?? 1) < 2) return shown ?? '';
  const parts = partsOf(last);
  if (shown && repo.peek()) parts.set(named(repo.peek() ?? ''), shown);
  return [...parts].map(([name, at]) => `${name}:${at}`).join(',');
};

/**
 * A server says which one it is. Another one may have taken the address, with other repositories: what is shown is
 * then none of its own until it has been read anew.
 * @param {string} name
 */
const greet = name => {
  // A tab that was not greeted yet knows the server from its view, where that has one epoch for all.
  const was = epoch || ((repos.peek()?.length ?? 1) < 2 ? cut.peek()?.split('.')[0] ?? '' : '');
  epoch = name;
  unsure = false;
  foreign ||= was !== '' && was !== name;
  if (!foreign) {
    fresh();
    return;
  }
  if (live.peek().state === 'live') stand({ state: 'reconnecting' });
  known = find();
  view();
};

/** A frame, in any tab. @param {Frame} frame */
const take = frame => {
  if (frame.event === 'hello') {
    open = [];
    greet(frame.data.epoch ?? '');
    return;
  }
  if (frame.event === 'reset') {
    // The rows that were missed stand before it.
    open = open.filter(it => it.event === 'row');
    if (!frame.data?.repo || frame.data.repo === repo.peek()) view();
    return;
  }
  if (frame.event !== 'mark') {
    if (frame.data.repo === repo.peek()) open.push(frame);
    return;
  }
  last = frame.id;
  if (frame.data.repo !== repo.peek()) return;
  const closed = { frames: open, id: cutIn(frame.id) };
  open = [];
  if (reading) early.push(closed);
  else close(closed);
};

/** Apply a cut at its mark. @param {{frames: Frame[], id: string}} it */
const close = ({ frames, id }) => {
  const shown = cut.peek();
  const newer = shown === null ? null : after(id, shown);
  if (newer === false) return;
  if (newer === null) {
    view();
    return;
  }
  apply(frames, id);
};

let wanted = 0;

/** Read the view anew, and what came meanwhile after it. */
export const view = async () => {
  const id = repo.peek();
  if (!id) return;
  const mine = ++wanted;
  reading = true;
  early = [];
  try {
    await known;
    if (mine !== wanted) return;
    const fetched = await get(path('r', id, 'view'));
    if (mine !== wanted) return;
    reading = false;
    unsure = false;
    foreign = false;
    const isFirst = cut.peek() === null;
    const cuts = early;
    early = [];
    replace(fetched);
    hurry?.();
    fresh();
    for (const { frames, id } of cuts) if (after(id, fetched.cut) === false) tellRows(frames);
    reach(fetched.cut, isFirst);
    cuts.forEach(close);
  } catch (error) {
    if (mine !== wanted) return;
    reading = false;
    if (!(error instanceof Problem)) throw error;
    if (error.status === 401) return;
    if (error.status === 404) {
      // What was shown is of a server that is gone.
      foreign = false;
      forget();
      stand({ state: 'connecting' });
    }
    if (!loaded.peek()) unread.value = error;
    if (error.lost) stand({ state: 'reconnecting', tries: live.peek().tries + 1 });
    if (error.lost || error.status >= 500 || error.status === 429) {
      setTimeout(() => mine === wanted && view(), pause(live.peek().tries));
    }
  }
};

/** How long to wait before try `n`: 0.5 to 15 s, and some jitter. @param {number} n */
const pause = n => Math.min(15_000, 500 * 2 ** Math.min(n, 6)) * (0.75 + Math.random() / 2);

/** @param {number} ms */
const wait = ms => new Promise(resolve => {
  const timer = setTimeout(resolve, ms, undefined);
  hurry = () => {
    clearTimeout(timer);
    resolve(undefined);
  };
});

/** Read one connection to its end. @param {AbortController} abort */
const read = async abort => {
  const shown = place();
  const response = await fetch(`${base}api/v1/stream`, {
    headers: { ...authorization(), Accept: 'text/event-stream', ...(shown ? { 'Last-Event-ID': shown } : {}) },
    signal: abort.signal,
    cache: 'no-store',
    credentials: 'omit',
  });
  if (!response.ok || !response.body) throw await problemOf(response);
  await messages(response, { heard: beat, take: ({ event, data, id }) => event && data && tell({ event, data: JSON.parse(data), id }) });
};

/** A frame of the leader's: for itself and the others. @param {Frame} frame */
const tell = frame => {
  take(frame);
  pass({ frame });
};

let passed = 0;

/** Something came: the connection is alive. */
const beat = () => {
  fresh();
  if (Date.now() - passed < 1_000) return;
  passed = Date.now();
  pass({ beat: true, epoch: unsure ? null : epoch });
};

/** Stream for as long as this tab leads. @param {() => boolean} mayGoOn */
const lead = async mayGoOn => {
  while (mayGoOn()) {
    // What is shown is read first: the stream goes on from there.
    const isReading = repo.peek() !== null && !cut.peek() && !unread.peek();
    if (session.peek().state !== 'paired' || isReading) {
      await wait(isReading ? 100 : 1_000);
      continue;
    }
    connection = new AbortController();
    tried = Date.now();
    unsure = true;
    try {
      await read(connection);
    } catch (error) {
      if (error instanceof Problem && error.status === 401) {
        pass({ refused: true });
        continue;
      }
    }
    connection = null;
    if (!mayGoOn()) return;
    const tries = live.peek().tries + 1;
    stand({ state: loaded.peek() ? 'reconnecting' : 'connecting', tries });
    pass({ away: true });
    await wait(pause(tries - 1));
    hurry = null;
  }
};

/** Ends the request for the lead that is not granted yet. @type {AbortController | null} */
let asking = null;
/** Counts the times that this tab led: a lead that was lost does not go on. */
let term = 0;

/** Ask to lead; with `steal`, from a leader that is frozen. @param {boolean} steal */
const elect = steal => {
  asking?.abort();
  const request = steal ? null : new AbortController();
  asking = request;
  navigator.locks.request(LOCK, request ? { signal: request.signal } : { steal: true }, async () => {
    asking = null;
    const mine = ++term;
    leads = true;
    await lead(() => leads && mine === term);
  }).catch(() => {
    if (request?.signal.aborted) return;
    // Another tab took the lead: this one follows, and asks again for when that closes.
    leads = false;
    connection?.abort();
    elect(false);
  });
};

channel?.addEventListener('message', ({ data }) => {
  if (leads) return;
  if (data.refused) {
    session.value = { state: 'refused', why: null };
    return;
  }
  if (data.away) {
    tried = Date.now();
    unsure = true;
    stand({ state: 'reconnecting', tries: live.peek().tries + 1 });
    return;
  }
  fresh();
  if (data.frame) take(data.frame);
  else if (data.epoch && unsure) greet(data.epoch);
});

/** Leave a connection, or a leader, of which nothing was heard for too long. */
const look = () => {
  const silent = Date.now() - Math.max(heard, tried);
  if (leads) {
    if (silent > SILENCE) connection?.abort();
  } else if (silent > SILENCE + BEAT && navigator.locks) {
    tried = Date.now();
    elect(true);
  }
};

/** Look whether the server is still heard, and try at once where it is not. */
const awake = () => {
  if (document.visibilityState === 'hidden') return;
  look();
  if (unread.peek()?.lost) retry();
  hurry?.();
};

/** Try again now. */
export const retry = () => {
  connection?.abort();
  hurry?.();
  if (!loaded.peek()) {
    unread.value = null;
    if (!repos.peek()) find();
    view();
  }
};

const SEEN = 'crew.seen';

/** When crew was last heard, before this page was loaded; 0 where that is not known. */
export const lastSeen = () => Number(kept(SEEN) ?? 0);

/** Begin: once, when the page starts. */
export const start = () => {
  // Whenever another repository is shown, or this browser was paired, its view is read.
  let shown = '';
  effect(() => {
    const key = `${session.value.state} ${repo.value}`;
    if (key === shown) return;
    const other = shown !== '' && shown.split(' ')[1] !== String(repo.value);
    shown = key;
    if (session.value.state !== 'paired') return;
    if (other) forget();
    find();
    view();
    hurry?.();
  });

  if (navigator.locks) elect(false);
  else alone();

  // When it was last heard is known over a reload too: the page that cannot reach it says so.
  addEventListener('pagehide', () => loaded.peek() && keep(SEEN, String(heard)));
  addEventListener('online', awake);
  document.addEventListener('visibilitychange', awake);
  setInterval(() => {
    look();
    // Ages stand still while what is shown is stale.
    if (live.peek().state === 'live') now.value = Date.now() + skew.peek();
  }, 1_000);
  // A leader that is connected and shows nothing, such as a repository that is gone, leads the others all the same.
  setInterval(() => leads && live.peek().state !== 'live' && (!connection || unsure) && pass({ away: true }), BEAT);
};

/** Without a lock manager each tab streams for itself, while it is shown. */
const alone = () => {
  const run = () => {
    const shown = document.visibilityState !== 'hidden';
    if (shown && !leads) {
      leads = true;
      lead(() => leads);
    } else if (!shown && leads) {
      leads = false;
      connection?.abort();
    }
  };
  document.addEventListener('visibilitychange', run);
  run();
};

/** The next look for repositories, while nothing answers. @type {ReturnType<typeof setTimeout> | undefined} */
let finding;

/** The folder of the repository that is shown. @param {{id: string, path: string}[] | null} all */
const pathOf = all => all?.find(({ id }) => id === repo.peek())?.path;

/** Which repositories there are, and the one to show where the address names none. */
const find = async () => {
  clearTimeout(finding);
  try {
    const answer = await (await send('GET', 'repos')).json();
    const was = pathOf(repos.peek());
    const is = pathOf(answer.repos);
    repos.value = answer.repos;
    if (was && is && was !== is) {
      forget();
      view();
      toast(`${repo.peek()} is another repository now: that in ${is}.`, { tone: 'wrong' });
    }
    if (!repo.peek() && answer.repos.length === 1) repo.value = answer.repos[0].id;
  } catch (error) {
    if (error instanceof Problem && error.status === 401) return;
    if (!(error instanceof Problem)) return;
    if (!loaded.peek()) {
      unread.value = error;
      stand({ state: 'reconnecting', tries: live.peek().tries + 1 });
    }
    if (error.lost) finding = setTimeout(find, pause(live.peek().tries));
  }
};
