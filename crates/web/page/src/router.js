// Addresses: which page is shown, of which repository. The state of every view is in its address.
import { computed, signal } from './h.js';
import { base } from './api.js';

/**
 * @typedef {object} Route
 * @property {string} page The page's name: a module in `pages/`.
 * @property {string | null} repo The repository's id, where the address names one.
 * @property {string[]} params The names in the path of a repository's page, decoded.
 * @property {URLSearchParams} query
 * @property {string} hash Without its sign.
 * @property {string} path The path below the base, without a slash before it.
 */

/** The pages, each with its addresses below the base; a star is a name. @type {[string, ...string[]][]} */
const pages = [
  ['repos', ''], ['pair', 'pair'], ['device', 'device'],
  ['now', 'r/*'], ['inbox', 'r/*/inbox', 'r/*/inbox/*'], ['tickets', 'r/*/tickets'],
  ['ticket', 'r/*/t/*', 'r/*/t/*/history', 'r/*/t/*/cost'], ['output', 'r/*/t/*/output'],
  ['agents', 'r/*/agents'], ['agent', 'r/*/a/*'], ['train', 'r/*/train'], ['cost', 'r/*/cost'], ['events', 'r/*/events'],
  ['health', 'r/*/health'],
];

/** The words of a path. @param {string} path */
const wordsOf = path => path.split('/').filter(Boolean);

/** The page at an address. @param {string[]} pieces */
const pageAt = pieces => {
  /** @param {string} address */
  const fits = address => {
    const words = wordsOf(address);
    return words.length === pieces.length && words.every((word, n) => word === '*' || word === pieces[n]);
  };
  return pages.find(([, ...addresses]) => addresses.some(fits))?.[0] ?? 'missing';
};

/** Whether the route was reached by the browser's own step back or forth: lists are then where they were. */
export let returned = false;

const basePath = new URL(base).pathname;

/** @returns {Route} */
const read = () => {
  const path = location.pathname.startsWith(basePath) ? location.pathname.slice(basePath.length) : '';
  const pieces = wordsOf(path).map(decode);
  const repo = pieces[0] === 'r' ? (pieces[1] ?? null) : null;
  return {
    page: pageAt(pieces), repo, params: pieces.slice(3), query: new URLSearchParams(location.search), hash: decode(location.hash.slice(1)), path,
  };
};

/** @param {string} text */
const decode = text => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** The route that is shown. */
export const route = signal(read());

/** Its page and its path alone: what reads these is not drawn anew when only the query changes. */
export const page = computed(() => route.value.page);
export const pathNow = computed(() => route.value.path);

/** The repository that is shown: of the address, else the last one. */
export const repo = signal(route.peek().repo);

/**
 * The address of a page of the repository that is shown: `at('t', 't-12')`.
 * @param {...string} pieces
 */
export const at = (...pieces) => {
  const rest = pieces.filter(piece => piece !== '').map(encodeURIComponent).join('/');
  return `${base}r/${encodeURIComponent(repo.value ?? '')}/${rest}`;
};

/** Show what the address bar says. */
const show = () => {
  const next = read();
  if (next.repo) repo.value = next.repo;
  route.value = next;
};

/**
 * Go to an address of crew: whole, or below the base.
 * @param {string} url @param {{replace?: boolean}} [how]
 */
export const go = (url, { replace = false } = {}) => {
  const target = new URL(url, base);
  if (target.href === location.href) return;
  returned = false;
  history[replace ? 'replaceState' : 'pushState'](null, '', target);
  show();
};

/**
 * Change a word of the query in place; null or '' takes it out.
 * @param {Record<string, string | null>} words
 */
export const query = words => {
  const target = new URL(location.href);
  for (const [key, value] of Object.entries(words)) {
    if (value) target.searchParams.set(key, value);
    else target.searchParams.delete(key);
  }
  go(target.href, { replace: true });
};

/** Follow links and the browser's own steps back and forth. */
export const listen = () => {
  addEventListener('popstate', () => {
    returned = true;
    show();
  });
  addEventListener('hashchange', show);
  document.addEventListener('click', event => {
    if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const a = event.target instanceof Element ? event.target.closest('a') : null;
    if (!a || a.target || a.hasAttribute('download') || !a.href.startsWith(base)) return;
    if (a.getAttribute('href')?.startsWith('#')) return;
    event.preventDefault();
    go(a.href);
  });
};
