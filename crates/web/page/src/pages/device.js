// This device: how the page looks here, its keys and notifications; and the other devices that are paired.
import { h, useState } from '../h.js';
import { Problem, base, del, device, looksOnly, unpair } from '../api.js';
import { moment } from '../format.js';
import { notifying, permission, setNotifying, whyNotNotifying } from '../notifications.js';
import { openHelp } from '../palette.js';
import { confirm } from '../acts.js';
import { prefer, prefs } from '../prefs.js';
import { Copy } from '../ui/copy.js';
import { Failed, Loading } from '../ui/empty.js';
import { PageHead } from '../ui/head.js';
import { Outside } from '../ui/outside.js';
import { toast } from '../ui/toast.js';
import { useGet } from '../ui/use_get.js';
import '../style.js';

/** @typedef {import('../types').Device} Device */

export const Page = () => h('div', { class: 'pane device-page' },
  h(PageHead, { title: 'Device' }),
  h('div', { class: 'device-grid' },
    h('div', null, h(Looks, null), h(Keys, null), h(Notifications, null), h(Install, null)),
    h('div', null, h(Devices, null), h(Another, null))));

/**
 * One of a few.
 * @template {string} T
 * @param {{label: string, value: T, all: [T, string][], choose: (value: T) => void}} props
 */
const Choice = ({ label, value, all, choose }) => h('div', { class: 'setting-row' },
  h('span', null, label),
  h('div', { class: 'segments', role: 'group', 'aria-label': label }, all.map(([it, words]) =>
    h('button', { key: it, type: 'button', 'aria-pressed': String(it === value), onClick: () => choose(it) }, words))));

const Looks = () => h('section', { class: 'card', 'aria-labelledby': 'looks' },
  h('h2', { id: 'looks' }, 'Looks'),
  h('div', { class: 'settings' },
    h(Choice, { label: 'Theme', value: prefs.value.theme, all: [['auto', 'as the system'], ['light', 'light'], ['dark', 'dark']], choose: it => prefer({ theme: /** @type {any} */ (it) }) }),
    h(Choice, { label: 'Density', value: prefs.value.density, all: [['comfortable', 'comfortable'], ['compact', 'compact']], choose: it => prefer({ density: /** @type {any} */ (it) }) })));

const Keys = () => h('section', { class: 'card', 'aria-labelledby': 'keys' },
  h('h2', { id: 'keys' }, 'Keys'),
  h('div', { class: 'settings' },
    h('label', { class: 'setting-row' },
      h('span', null, 'Single letters are keys', h('span', { class: 'dim block' }, 'Never in a field. Switch them off if you speak to this page, or press keys by mistake. Ctrl-K, the arrows, Enter and Esc stay.')),
      h('input', { type: 'checkbox', checked: prefs.value.keys, onChange: (/** @type {Event & {currentTarget: HTMLInputElement}} */ event) => prefer({ keys: event.currentTarget.checked }) })),
    h('p', null, h('button', { type: 'button', onClick: openHelp }, 'Show all keys', prefs.value.keys && h('kbd', { 'aria-hidden': 'true' }, '?')))));

const Notifications = () => {
  const [problem, setProblem] = useState('');
  const why = whyNotNotifying();
  const on = notifying.value;
  const turn = async () => {
    setProblem('');
    try {
      await setNotifying(!on);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return h('section', { class: 'card', 'aria-labelledby': 'notifications' },
    h('h2', { id: 'notifications' }, 'Notifications'),
    h('div', { class: 'settings' },
      h('p', null, on
        ? 'This device tells you when something comes to wait for you, and takes it back once it no longer does.'
        : 'Nothing is told outside the page here.'),
      why ? h('p', { class: 'dim' }, why) : h('p', null, h('button', { type: 'button', class: on ? '' : 'main', onClick: turn }, on ? 'Turn off here' : 'Turn on here')),
      !why && permission.value === 'default' && !on && h('p', { class: 'dim' }, 'Your browser asks whether crew may.'),
      problem && h('p', { class: 'wrong', role: 'alert' }, problem),
      h('p', { class: 'dim' }, 'It works while a tab of crew, or the installed app, is open. ', h('code', null, 'crew notify'), ' tells you without one: by mail, ntfy or your desktop.')));
};

/** What the browser offers for installing the page, once it does. */
const Install = () => {
  const installed = matchMedia('(display-mode: standalone)').matches;
  const safe = globalThis.isSecureContext;
  return h('section', { class: 'card', 'aria-labelledby': 'install' },
    h('h2', { id: 'install' }, 'As an app'),
    h('div', { class: 'settings' },
      h('p', { class: installed ? '' : 'dim' }, installed ? 'This is the installed app.'
        : safe ? 'Your browser’s menu can install crew, or add it to the home screen. It then starts without a server, too, and says that crew cannot be reached.'
          : 'It can be installed where the address is https, or this machine’s own.')));
};

const Devices = () => {
  const [again, setAgain] = useState(0);
  const { data, problem, retry } = useGet('devices', [again]);
  /** @type {Device[]} */
  const all = data?.devices ?? [];
  const mayAct = !looksOnly();
  /** @param {Device} it */
  const revoke = async it => {
    const text = await confirm({
      title: it.this ? 'Revoke this device?' : `Revoke ${it.name}?`,
      says: it.this ? 'This page is shut at once. To use crew here again, pair it anew.' : 'It is shut out at once, also where it is open now.',
      yes: 'Revoke', danger: true, line: `crew web revoke ${it.id}`,
    });
    if (text === undefined) return;
    try {
      await del(`devices/${encodeURIComponent(it.id)}`);
      if (it.this) unpair();
      else toast(`${it.name} is revoked.`);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      toast(error.message, { tone: 'wrong' });
    }
    setAgain(n => n + 1);
  };
  return h('section', { class: 'card', 'aria-labelledby': 'devices' },
    h('h2', { id: 'devices' }, 'Paired devices'),
    problem && h(Failed, { problem, retry }),
    !data && !problem && h(Loading, { rows: 3 }),
    h('ul', { class: 'devices' }, all.map(it => h('li', { key: it.id },
      h('div', null,
        h('p', null, h('b', null, h(Outside, { text: it.name })), it.this && h('span', { class: 'chip' }, 'this one')),
        h('p', { class: 'dim' }, it.scope === 'look' ? 'looks' : 'acts',
          it.paired_at && [' · paired ', h('time', { dateTime: it.paired_at }, moment(it.paired_at))],
          it.last_used && [' · last used ', h('time', { dateTime: it.last_used }, moment(it.last_used))])),
      (mayAct || it.this) && h('button', { type: 'button', class: 'small danger', 'aria-label': `Revoke ${it.name}`, onClick: () => revoke(it) }, 'Revoke…')))),
    data && all.length === 0 && h('p', { class: 'dim card-foot' }, 'No device is paired.'),
    looksOnly() && h('p', { class: 'dim card-foot' }, `${device.value?.name ?? 'This device'} may look, not act.`));
};

const Another = () => h('section', { class: 'card', 'aria-labelledby': 'another' },
  h('h2', { id: 'another' }, 'Pair another'),
  h('div', { class: 'settings' },
    h('p', null, 'In a terminal on the machine where crew runs, type'),
    h('p', null, h(Copy, { line: 'crew web pair' })),
    h('p', { class: 'dim' }, 'and open the link that it prints on the other device, or point its camera at the code. A link is good once, for ten minutes. For a device that may only look:'),
    h('p', null, h(Copy, { line: 'crew web pair --look' })),
    h('p', { class: 'dim' }, 'This page makes no links, so that a lost device cannot add another. It is at ', h('code', null, base), '.')));
