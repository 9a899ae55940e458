// Whether everything is as it should be: what the doctor finds, the engine, the disk, the settings in force.
import { h, useState } from '../h.js';
import { path } from '../api.js';
import { number, whole } from '../format.js';
import { repo } from '../router.js';
import { live, state } from '../store.js';
import { several } from '../words.js';
import { Copy } from '../ui/copy.js';
import { Failed, Loading } from '../ui/empty.js';
import { PageHead } from '../ui/head.js';
import { Outside, Said, SaidLines, visible } from '../ui/outside.js';
import { Age } from '../ui/time.js';
import { useGet } from '../ui/use_get.js';
import '../style.js';

/** @typedef {{area: string, level: 'fine' | 'note' | 'wrong', says: string, hint: string | null, fix: string | null, fixed: boolean}} Finding */

/** The signs of the doctor. @type {Record<string, [string, string, string]>} */
const LEVELS = { fine: ['✓', 'good', 'as it should be'], note: ['·', 'dim', 'worth knowing'], wrong: ['✗', 'wrong', 'wrong'] };
const RANK = { wrong: 0, note: 1, fine: 2 };

/** @param {number} bytes */
const disk = bytes => (bytes >= 1e12 ? `${(bytes / 1e12).toFixed(1)} TB` : bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.round(bytes / 1e6)} MB`);

export const Page = () => {
  const [asked, setAsked] = useState(0);
  const { data, problem, retry } = useGet(path('r', repo.value ?? '', 'health'), [asked]);
  return h('div', { class: 'pane health' },
    h(PageHead, { title: 'Health', beside: data && h(Verdict, { doctor: data.doctor }) },
      h('button', { type: 'button', class: 'end', onClick: () => setAsked(n => n + 1) }, 'Look again')),
    problem && h(Failed, { problem, retry }),
    !data && !problem && h(Loading, { rows: 9, label: 'The doctor looks' }),
    data && h('div', { class: 'health-grid' },
      h(Findings, { findings: data.doctor.findings }),
      h('div', { class: 'health-side' }, h(Facts, { health: data }), h(Settings, { settings: data.settings }))));
};

/** @param {{doctor: {wrong: number, notes: number}}} props */
const Verdict = ({ doctor }) => {
  const [sign, tone] = LEVELS[doctor.wrong ? 'wrong' : 'fine'] ?? [];
  return h('span', { class: `state ${tone}` }, h('span', { class: 'symbol', 'aria-hidden': 'true' }, sign),
    h('span', { class: 'word' }, doctor.wrong ? several(doctor.wrong, 'one thing is wrong', '# things are wrong') : 'nothing is wrong',
      doctor.notes > 0 && `, ${several(doctor.notes, 'one note', '# notes')}`));
};

/** What is wrong first, then the notes, then what is fine, folded by area. @param {{findings: Finding[]}} props */
const Findings = ({ findings }) => {
  const open = findings.filter(it => it.level !== 'fine' || it.fixed).sort((a, b) => RANK[a.level] - RANK[b.level]);
  const fine = findings.filter(it => it.level === 'fine' && !it.fixed);
  const areas = [...new Set(fine.map(it => it.area))];
  return h('section', { 'aria-labelledby': 'findings' },
    h('h2', { id: 'findings' }, 'What the doctor finds'),
    open.length === 0 && h('p', null, 'Everything is as it should be.'),
    h('ul', { class: 'findings' }, open.map((it, n) => h(Found, { key: n, it }))),
    areas.length > 0 && h('h3', null, 'As it should be'),
    h('div', { class: 'fine-areas' }, areas.map(area => {
      const its = fine.filter(it => it.area === area);
      return h('details', { key: area },
        h('summary', null, h('span', { class: 'symbol good', 'aria-hidden': 'true' }, '✓'), h('span', { class: 'area' }, area),
          h('span', { class: 'dim' }, several(its.length, its[0]?.says.split('\n')[0] ?? '', '# findings'))),
        h('ul', { class: 'findings' }, its.map((it, n) => h(Found, { key: n, it }))));
    })));
};

/** @param {{it: Finding}} props */
const Found = ({ it }) => {
  const [sign, tone, word] = LEVELS[it.level] ?? ['·', 'dim', it.level];
  return h('li', { class: `finding ${tone}` },
    h('span', { class: 'symbol', 'aria-hidden': 'true' }, sign),
    h('div', null,
      h('p', { class: 'finding-head' }, h('span', { class: 'area' }, it.area), h('span', { class: 'unseen' }, `, ${word}: `)),
      h(SaidLines, { text: it.says }),
      it.hint && h('p', { class: 'hint' }, '→ ', h(Said, { text: it.hint })),
      it.fix && !it.fixed && h('p', { class: 'hint' }, h(Copy, { line: 'crew doctor --fix' }), ' ', h(Said, { text: it.fix }))));
};

/** @param {{health: any}} props */
const Facts = ({ health }) => {
  const engine = state.value?.engine;
  return h('section', { 'aria-labelledby': 'facts' },
    h('h2', { id: 'facts' }, 'Facts'),
    h('dl', { class: 'facts' },
      row('Engine', engine
        ? [h('span', { class: engine.stopped ? 'wrong' : 'working', 'aria-hidden': 'true' }, engine.stopped ? '! ' : '● '),
          engine.pid === null ? 'runs' : `process ${engine.pid}`, engine.since && [' for ', h(Age, { since: engine.since })]]
        : 'none runs'),
      row('Journal', `${several(health.journal_rows, '# row', `${number(health.journal_rows)} rows`)}`),
      health.disk_free !== null && health.disk_free !== undefined && row('Disk', `${disk(health.disk_free)} free`),
      row('Version', h(Outside, { text: String(health.version) })),
      row('Pages', `${several(count(health.streams), 'one is open', '# are open')}, ${several(count(health.devices), 'one device is paired', '# devices are paired')}`),
      row('This page', live.value.state === 'live' ? 'live' : `as of ${whole(live.value.asOf)}`)));
};

/** A number, or how many there are. @param {unknown} it */
const count = it => (Array.isArray(it) ? it.length : Number(it ?? 0));

/** @param {string} name @param {import('../types').Children} value */
const row = (name, value) => [h('dt', null, name), h('dd', null, value)];

/** The settings in force, part by part. @param {{settings: unknown}} props */
const Settings = ({ settings }) => {
  if (typeof settings === 'string') {
    return h('section', { 'aria-labelledby': 'settings' }, h('h2', { id: 'settings' }, 'Settings in force'),
      h('pre', { class: 'printed', tabIndex: 0 }, visible(settings)));
  }
  if (!settings || typeof settings !== 'object') return null;
  return h('section', { 'aria-labelledby': 'settings' },
    h('h2', { id: 'settings' }, 'Settings in force'),
    h('p', { class: 'dim' }, 'With every default filled in. Values of environment variables are not shown.'),
    Object.entries(settings).map(([name, value]) => {
      const isTable = value !== null && typeof value === 'object' && !Array.isArray(value);
      return isTable
        ? h('details', { key: name, class: 'setting' }, h('summary', null, h('code', null, `[${name}]`)),
          h('dl', { class: 'facts code' }, Object.entries(value).map(([key, it]) => row(key, h('code', null, h(Outside, { text: written(it) }))))))
        : h('dl', { key: name, class: 'facts code' }, row(name, h('code', null, h(Outside, { text: written(value) }))));
    }));
};

/** @param {unknown} value */
const written = value => JSON.stringify(value) ?? 'null';
