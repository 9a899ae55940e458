// What the server has sent: whole documents by kind and key. The page computes nothing from them but their
// looks.
import { batch, computed, signal } from './h.js';
import { repo } from './router.js';

/** @typedef {import('./types').Kinds} Kinds */
/** @typedef {import('./types').Doc} Doc */
/**
 * @template T
 * @typedef {import('../vendor/signals.js').Signal<T>} Signal
 */

export { repo };

/** @returns {Signal<Map<string, any>>} */
const kind = () => signal(new Map());

/**
 * The documents of the repository that is shown, by kind; each a map by key.
 * @type {{[K in keyof Kinds]: Signal<Map<string, Kinds[K]>>}}
 */
export const docs = {
  repository: kind(),
  state: kind(),
  agent: kind(),
  ticket: kind(),
  item: kind(),
  train: kind(),
  landed: kind(),
  order: kind(),
  asked: kind(),
};

/** @type {Record<string, Signal<Map<string, any>>>} */
const byName = docs;

/** @param {string} name */
const order = name => computed(() => {
  const listed = docs.order.value.get(name);
  return Array.isArray(listed) ? listed : (listed?.keys ?? []);
});

/** The keys of a kind, in the order in which the server would have them shown. */
export const orders = {
  tickets: order('tickets'), agents: order('agents'), inbox: order('inbox'), train: order('train'),
  landed: order('landed'),
};

export const state = computed(() => docs.state.value.get('') ?? null);
export const repository = computed(() => docs.repository.value.get('') ?? null);

/** The items that wait, in order. */
export const inbox = computed(() => {
  const items = docs.item.value;
  return orders.inbox.value.flatMap(id => items.get(id) ?? []);
});

/** Whether the documents are there: the first view has been read. */
export const loaded = signal(false);

/** Why the view could not be read. @type {Signal<import('./api.js').Problem | null>} */
export const unread = signal(null);

/** The cut that is shown: `EPOCH.SEQ.N`. @type {Signal<string | null>} */
export const cut = signal(null);

/** How the page stands with the server. @type {Signal<import('./types').Live>} */
export const live = signal({ state: 'connecting', since: Date.now(), asOf: 0, tries: 0 });

/** The repositories of this server. @type {Signal<{id: string, name: string, path: string}[] | null>} */
export const repos = signal(null);

/** This moment by the server's clock. It stands still while what is shown is stale. */
export const now = signal(Date.now());

/**
 * The rows of the journal: a `row` for each as it comes, once and in order; `gap` where some have come that are not
 * told, so that who shows them reads them.
 */
export const rows = new EventTarget();

/** The last row that is known here: it was told, or what was read first has it. */
let told = 0;

/** The journal's last row at a cut. @param {string | null} at */
export const seqOf = at => Number(at?.split('.')[1] ?? 0);

/** Tell of the rows among frames that were not told. @param {{event: string, data: any}[]} frames */
export const tellRows = frames => {
  for (const { event, data } of frames) {
    if (event !== 'row' || data.event.seq <= told) continue;
    told = data.event.seq;
    rows.dispatchEvent(new CustomEvent('row', { detail: data.event }));
  }
};

/** All that was told is to be that of a view now. @param {string} at Its cut. @param {boolean} isFirst */
export const reach = (at, isFirst) => {
  if (told === seqOf(at)) return;
  told = seqOf(at);
  if (!isFirst) rows.dispatchEvent(new Event('gap'));
};

/** Replace everything by a view. @param {{cut: string, docs: Doc[]}} view */
export const replace = view => {
  /** @type {Record<string, Map<string, any>>} */
  const fresh = {};
  for (const name of Object.keys(byName)) fresh[name] = new Map();
  for (const { kind: name, key, doc } of view.docs) fresh[name]?.set(key, doc);
  batch(() => {
    for (const [name, map] of Object.entries(fresh)) byName[name].value = map;
    cut.value = view.cut;
    unread.value = null;
    loaded.value = true;
  });
};

/** Forget everything, as when another repository is shown. */
export const forget = () => batch(() => {
  for (const held of Object.values(byName)) held.value = new Map();
  cut.value = null;
  loaded.value = false;
  unread.value = null;
});

/**
 * Apply the frames of one cut, all at once.
 * @param {{event: string, data: any}[]} frames @param {string} id
 */
export const apply = (frames, id) => {
  /** @type {Record<string, Map<string, any>>} */
  const changed = {};
  for (const { event, data } of frames) {
    const held = byName[data.kind];
    if (!held) continue;
    const map = (changed[data.kind] ??= new Map(held.peek()));
    if (event === 'put') map.set(data.key, data.doc);
    else map.delete(data.key);
  }
  batch(() => {
    for (const [name, map] of Object.entries(changed)) byName[name].value = map;
    cut.value = id;
  });
  tellRows(frames);
};

/**
 * True if cut `a` is after cut `b`; null where they are of different servers.
 * @param {string} a
 * @param {string} b
 */
export const after = (a, b) => {
  const [x, y] = [a.split('.'), b.split('.')];
  if (x[0] !== y[0]) return null;
  const [seq, n] = [Number(x[1]) - Number(y[1]), Number(x[2]) - Number(y[2])];
  return seq > 0 || (seq === 0 && n > 0);
};
