// The service worker: it keeps the shell of the page, so that crew opens and says that it is unreachable while
// no server answers. It keeps no data: nothing below `api/` ever passes through it.
// @ts-check
/// <reference lib="webworker" />

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));

/** The cache of the shell: its root document, and the assets of one version. */
const SHELL = 'crew-shell-1';
/** A navigation that takes longer is answered from the cache: a machine that is away refuses nothing. */
const PATIENCE_MS = 4_000;
/** The addresses that are kept beside the assets. */
const BESIDE = ['icon.svg', 'manifest.webmanifest'];

worker.addEventListener('install', (event) => {
  event.waitUntil(keepDocument().catch(() => undefined).then(() => worker.skipWaiting()));
});

worker.addEventListener('activate', (event) => {
  event.waitUntil(forgetOldCaches().then(() => worker.clients.claim()));
});

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const path = pathOf(request.url);
  if (request.method !== 'GET' || path === null || path.startsWith('api/')) return;
  if (request.mode === 'navigate') event.respondWith(navigation(request, path));
  else if (path.startsWith('a/')) event.respondWith(asset(request, path));
  else if (BESIDE.includes(path)) event.respondWith(newest(request));
});

// The page names the modules that it has loaded: they were fetched before this worker stood between.
worker.addEventListener('message', (event) => {
  const { keep } = event.data ?? {};
  if (Array.isArray(keep)) event.waitUntil(keepAssets(keep.filter((url) => typeof url === 'string')));
});

worker.addEventListener('notificationclick', (event) => {
  event.notification.close();
  const url = event.notification.data?.url;
  if (typeof url === 'string' && pathOf(url) !== null) event.waitUntil(show(url));
});

/** The path below the scope, without its query; null for another origin or a place outside the scope.
 * @param {string} url */
function pathOf(url) {
  const { origin, pathname } = new URL(url, worker.registration.scope);
  const scope = new URL(worker.registration.scope);
  if (origin !== scope.origin || !pathname.startsWith(scope.pathname)) return null;
  return pathname.slice(scope.pathname.length);
}

/** The page itself: from the server, else the kept one.
 * @param {Request} request
 * @param {string} path */
async function navigation(request, path) {
  try {
    // By its address: as the request of another page, which followed a link here, the server refuses it.
    const answer = await within(PATIENCE_MS, fetch(request.url, { cache: 'no-store', credentials: 'omit' }));
    if (answer.ok && path === '') await keepDocument(answer.clone());
    return answer;
  } catch {
    return (await keptDocument(path)) ?? Response.error();
  }
}

/** The kept root document, with its relative addresses as a page at that depth needs them.
 * @param {string} path */
async function keptDocument(path) {
  const cache = await caches.open(SHELL);
  const kept = await cache.match(worker.registration.scope);
  if (!kept) return undefined;
  const depth = path.split('/').length - 1;
  if (depth === 0) return kept;
  const text = await kept.text();
  const headers = new Headers(kept.headers);
  headers.delete('content-length');
  return new Response(text.replaceAll('"./', `"${'../'.repeat(depth)}`), { status: 200, headers });
}

/** @param {Response} [answer] */
async function keepDocument(answer) {
  const cache = await caches.open(SHELL);
  const fresh = answer ?? (await fetch(worker.registration.scope, { cache: 'no-store' }));
  if (fresh.ok) await cache.put(worker.registration.scope, fresh);
}

/** An asset never changes below its hash, but below `dev` it does.
 * @param {Request} request
 * @param {string} path */
async function asset(request, path) {
  if (path.startsWith('a/dev/')) return newest(request);
  const cache = await caches.open(SHELL);
  const kept = await cache.match(request);
  if (kept) return kept;
  const answer = await fetch(request);
  if (answer.ok) await cache.put(request, answer.clone());
  return answer;
}

/** From the server, else what was kept.
 * @param {Request} request */
async function newest(request) {
  const cache = await caches.open(SHELL);
  try {
    const answer = await fetch(request);
    if (answer.ok) await cache.put(request, answer.clone());
    return answer;
  } catch {
    return (await cache.match(request)) ?? Response.error();
  }
}

/** Keeps these assets, and forgets those of another version.
 * @param {string[]} urls */
async function keepAssets(urls) {
  const cache = await caches.open(SHELL);
  const wanted = urls.filter((url) => pathOf(url)?.startsWith('a/'));
  const versions = new Set(wanted.map(versionOf));
  for (const request of await cache.keys()) {
    const version = versionOf(request.url);
    if (version !== undefined && versions.size > 0 && !versions.has(version)) await cache.delete(request);
  }
  for (const url of wanted) {
    if (!(await cache.match(url))) await cache.add(url).catch(() => undefined);
  }
}

/** The hash in the address of an asset.
 * @param {string} url */
function versionOf(url) {
  return pathOf(url)?.match(/^a\/([^/]+)\//)?.[1];
}

async function forgetOldCaches() {
  for (const name of await caches.keys()) {
    if (name.startsWith('crew-shell-') && name !== SHELL) await caches.delete(name);
  }
}

/** Shows the page at that address: in a window that is open, else in a new one.
 * @param {string} url */
async function show(url) {
  const windows = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const best = windows.find((client) => client.focused) ?? windows.find((client) => client.visibilityState === 'visible') ?? windows[0];
  if (!best) return void (await worker.clients.openWindow(url));
  const focused = await best.focus().catch(() => best);
  focused.postMessage({ go: url });
}

/** Fails if that takes longer.
 * @template T
 * @param {number} ms
 * @param {Promise<T>} promise
 * @returns {Promise<T>} */
function within(ms, promise) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('no answer in time')), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
