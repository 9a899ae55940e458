// Where the page starts.
import { h, render, useEffect, useState } from './h.js';
import { NOTIFY, kept } from './prefs.js';
import { base, session } from './api.js';
import { listen, page } from './router.js';
import { loaded, repos, unread } from './store.js';
import { lastSeen, retry, start } from './stream.js';
import { moment, sentence } from './format.js';
import { Shell } from './shell.js';
import { Empty, Failed, Loading } from './ui/empty.js';
import { PageHead } from './ui/head.js';
import { Outside } from './ui/outside.js';

/** The pages, each a module that is loaded when it is first shown. */
/** @type {Record<string, () => Promise<{Page: import('../vendor/preact.js').ComponentType}>>} */
const pages = {
  now: () => import('./pages/now.js'),
  inbox: () => import('./pages/inbox.js'),
  tickets: () => import('./pages/tickets.js'),
  ticket: () => import('./pages/ticket.js'),
  output: () => import('./pages/output.js'),
  agents: () => import('./pages/agents.js'),
  train: () => import('./pages/train.js'),
  cost: () => import('./pages/cost.js'),
  events: () => import('./pages/events.js'),
  health: () => import('./pages/health.js'),
  device: () => import('./pages/device.js'),
  pair: () => import('./pages/pair.js'),
  repos: () => import('./pages/repos.js'),
  missing: () => import('./pages/missing.js'),
};

/**
 * Brings what comes once the first page is there, such as keys, the palette and notifications: when a person does
 * something, or else when nothing has been done for a while.
 * Keys that are pressed before it is there are pressed once more.
 */
const bringLater = () => {
  /** @type {KeyboardEvent[]} */
  const early = [];
  const kinds = /** @type {const} */ (['keydown', 'pointermove', 'pointerdown']);
  let begun = false;
  const begin = (/** @type {Event} */ event) => {
    if (event instanceof KeyboardEvent && event.isTrusted) early.push(event);
    if (begun) return;
    begun = true;
    clearTimeout(timer);
    // Where it cannot be loaded, the page is used without it until it is loaded anew.
    import('./assist.js').then(({ start: assist }) => assist(), () => undefined).finally(() => {
      for (const kind of kinds) removeEventListener(kind, begin, true);
      for (const it of early) (it.target ?? document.body).dispatchEvent(new KeyboardEvent('keydown', it));
    });
  };
  for (const kind of kinds) addEventListener(kind, begin, true);
  // A device that tells what comes to wait does so from the first moment.
  const timer = setTimeout(() => begin(new Event('idle')), kept(NOTIFY) === 'on' ? 0 : 4_000);
};

/** Whether a page has been shown: the first one leaves the focus where it is, and brings what comes later. */
let painted = false;

/** A page by name. @param {{name: string}} props */
const Loaded = ({ name }) => {
  const [shown, setShown] = useState(/** @type {{name: string, Page?: any, error?: Error}} */ ({ name: '' }));
  useEffect(() => {
    let is = true;
    pages[name]().then(
      module => is && setShown({ name, Page: module.Page }),
      error => is && setShown({ name, error }),
    );
    return () => { is = false; };
  }, [name]);
  useEffect(() => {
    if (shown.name !== name || !shown.Page) return;
    // Another page: the focus goes to its heading, so that it is read from there.
    if (painted) document.querySelector('h1')?.focus({ preventScroll: true });
    else bringLater();
    painted = true;
    performance.mark(`page ${name}`);
  }, [shown]);
  if (shown.name !== name) return h('div', { class: 'pane' }, h(Loading, null));
  if (shown.error) {
    return h('div', { class: 'pane' }, h(Failed, {
      problem: { message: 'This page could not be loaded. crew may have been updated or stopped.' },
      retry: () => location.reload(),
    }));
  }
  return h(shown.Page, null);
};

/** Nothing answers, and nothing is known yet. */
const Unreachable = () => {
  const problem = unread.value;
  return h('main', { class: 'whole' },
    h('h1', { tabIndex: -1 }, problem?.lost ? 'crew cannot be reached' : 'crew cannot show this'),
    h('p', null, h('code', null, base)),
    problem && !problem.lost && h('p', null, h(Outside, { text: sentence(problem.message) })),
    problem?.hint && h('p', { class: 'dim' }, h(Outside, { text: sentence(problem.hint) })),
    problem?.lost && h('p', { class: 'dim' }, 'Is ', h('code', null, 'crew web'), ' running there? The page tries again by itself.'),
    lastSeen() > 0 && h('p', { class: 'dim' }, 'Last seen: ', h('time', { dateTime: new Date(lastSeen()).toISOString() }, moment(lastSeen())), '.'),
    h('p', { class: 'dim' }, 'What you typed is kept.'),
    h('button', { type: 'button', class: 'main', onClick: retry }, 'Try again'));
};

const App = () => {
  const shown = page.value;
  const { state } = session.value;
  if (shown === 'pair' || state !== 'paired') return h(Loaded, { key: 'pair', name: 'pair' });
  if (unread.value && !loaded.value) {
    if (unread.value.status === 404) {
      return h(Shell, null, h('div', { class: 'pane' }, h(PageHead, { title: 'Not found' }),
        h(Empty, { title: 'There is no such repository here.', symbol: '∅' },
          (repos.value ?? []).map(({ id, name }) =>
            h('p', { key: id }, h('a', { href: `${base}r/${encodeURIComponent(id)}/` }, h(Outside, { text: name })))))));
    }
    return h(Unreachable, null);
  }
  const needsData = shown !== 'device' && shown !== 'repos' && shown !== 'missing';
  if (needsData && !loaded.value) return h(Shell, null, h('div', { class: 'pane' }, h(Loading, { rows: 8 })));
  // An agent is shown beside the list of all, which stays.
  const name = shown === 'agent' ? 'agents' : shown;
  return h(Shell, null, h(Loaded, { key: name, name }));
};

// Addresses in the document are relative: they would mean another place once the page has gone to another
// address.
for (const link of /** @type {NodeListOf<HTMLLinkElement>} */ (document.querySelectorAll('link:not([rel="stylesheet"])'))) {
  link.setAttribute('href', link.href);
}
listen();
start();
const app = /** @type {HTMLElement} */ (document.getElementById('app'));
// The head that was painted before this was here.
app.replaceChildren();
render(h(App, null), app);
