// Notifications of this device: one for each item that comes to wait, taken back when it no longer does.
import { computed, effect, signal } from './h.js';
import { skew } from './api.js';
import { NOTIFY, keep, kept } from './prefs.js';
import { at, repo, route } from './router.js';
import { docs, loaded, repository } from './store.js';
import { waiting } from './snooze.js';
import { registration } from './service_worker.js';
import { asksOnly, kindOf } from './words.js';
import { visible } from './ui/outside.js';

/** @typedef {import('./types').Item} Item */

/** The time in which another tab of this device can say that it shows the item. */
const ASKING_MS = 250;
/** The most characters of a body: notifications show a few lines. */
const BODY = 240;

const supported = () => 'Notification' in globalThis && 'serviceWorker' in navigator && globalThis.isSecureContext;

/** What the person has allowed in the browser. @type {import('../vendor/signals.js').Signal<NotificationPermission>} */
export const permission = signal(supported() ? Notification.permission : 'denied');

const stored = () => kept(NOTIFY) === 'on';

const wanted = signal(stored());

/** Whether this device tells. */
export const notifying = computed(() => wanted.value && permission.value === 'granted');

/** Why this browser cannot tell anything; null where it can. */
export const whyNotNotifying = () => {
  if (!globalThis.isSecureContext) return 'Browsers allow notifications only on https, or on this machine’s own address.';
  if (!supported()) return 'This browser has no notifications for pages. On an iPhone or iPad, add crew to the home screen first.';
  if (permission.value === 'denied') return 'Your browser forbids them for this page. Its settings for this address can allow them again.';
  return null;
};

/** Turn them on or off here; the browser is asked only then. @param {boolean} on */
export const setNotifying = async on => {
  if (on) {
    permission.value = await Notification.requestPermission();
    if (permission.value !== 'granted') return;
    if (!(await registration())) throw new Error('The browser did not take the service worker that shows them.');
  }
  wanted.value = on;
  if (on) start();
  // Where it is not kept, it holds for this page.
  keep(NOTIFY, on ? 'on' : 'off');
  if (!on) await takeBack(() => true);
};

/** Whether this tab shows an item to somebody. @param {string} id */
const shows = id => {
  if (document.visibilityState !== 'visible') return false;
  const item = docs.item.peek().get(id);
  const { page, params } = route.peek();
  // In a window that is not narrow the list stands beside the chosen one.
  if (page === 'inbox') return params.length === 0 || params[0] === id || matchMedia('(min-width: 700px)').matches;
  if (page === 'now') return true;
  return page === 'ticket' && item !== undefined && params[0] === item.ticket;
};

const channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel('crew-shown') : null;

/** Whether any tab of this device shows an item. @param {string} id @returns {Promise<boolean>} */
const shownHere = id => new Promise(resolve => {
  if (shows(id)) return resolve(true);
  if (!channel) return resolve(false);
  const hear = (/** @type {MessageEvent} */ { data }) => {
    if (data?.shown === id) end(true);
  };
  const end = (/** @type {boolean} */ is) => {
    channel.removeEventListener('message', hear);
    clearTimeout(timer);
    resolve(is);
  };
  const timer = setTimeout(() => end(false), ASKING_MS);
  channel.addEventListener('message', hear);
  channel.postMessage({ asks: id });
});

/** @param {Item} item @param {string} of */
const tell = async (item, of) => {
  if (item.urgency === 'parked' || (await shownHere(item.id))) return;
  const it = await registration();
  if (!it || !docs.item.peek().has(item.id)) return;
  const { symbol, words } = kindOf(item.kind);
  const said = [item.title, asksOnly(item) ? '' : item.why, item.question && `“${item.question}”`];
  await it.showNotification(visible(`${symbol} ${words}: ${item.ticket ?? item.title}${of && ` · ${of}`}`), {
    tag: item.id,
    body: visible(said.slice(item.ticket ? 0 : 1).filter(Boolean).join('\n')).slice(0, BODY),
    icon: new URL('icon-192.png', it.scope).href,
    silent: true,
    data: { repo: repo.peek(), of, url: at('inbox', item.id) },
  });
};

/** Take those back that fit. @param {(id: string, of: string | undefined) => boolean} fits */
const takeBack = async fits => {
  if (!supported() || Notification.permission !== 'granted') return;
  const it = await registration();
  for (const shown of (await it?.getNotifications()) ?? []) {
    if (fits(shown.tag, shown.data?.repo)) shown.close();
  }
};

/** Whether an item came after the page was opened, before this part was there; moments are whole seconds. @param {Item} item */
const cameSince = item => item.since !== null && Date.parse(item.since) + 1_000 - skew.peek() > performance.timeOrigin;

let begun = false;

/** Begin to tell, once; nothing is told of what waits when the page is opened, since it is shown there. */
export const start = () => {
  if (begun) return;
  begun = true;
  channel?.addEventListener('message', ({ data }) => {
    if (typeof data?.asks === 'string' && shows(data.asks)) channel.postMessage({ shown: data.asks });
  });
  addEventListener('storage', ({ key }) => {
    if (key !== NOTIFY) return;
    wanted.value = stored();
    permission.value = supported() ? Notification.permission : 'denied';
  });

  /** @type {{repo: string | null, ids: Set<string>} | null} */
  let known = null;
  effect(() => {
    const items = docs.item.value;
    const own = repo.value;
    if (!loaded.value) return;
    const ids = new Set(items.keys());
    const was = known?.repo === own ? known.ids : null;
    known = { repo: own, ids };
    if (!notifying.peek()) return;
    const of = repository.peek()?.name ?? '';
    for (const [id, item] of items) if (was ? !was.has(id) : cameSince(item)) tell(item, of);
    if (!was || [...was].some(id => !ids.has(id))) takeBack((id, its) => its === own && !ids.has(id));
  });
  // What somebody looks at needs no notification any more.
  effect(() => {
    const { page, params } = route.value;
    if (notifying.peek() && page === 'inbox' && params[0]) takeBack(id => id === params[0]);
  });
  effect(() => {
    const count = waiting.value;
    if (!notifying.value || !('setAppBadge' in navigator)) return;
    (count ? navigator.setAppBadge(count) : navigator.clearAppBadge()).catch(() => undefined);
  });
};
