// What a ticket changes, for a person who is to decide about it: the files, and the lines as git has them.
import { h, useState } from '../h.js';
import { path } from '../api.js';
import { repo } from '../router.js';
import { several } from '../words.js';
import { Failed, Loading } from './empty.js';
import { Outside } from './outside.js';
import { useGet } from './use_get.js';

/** @typedef {{path: string, moved_from: string | null, status: string, added: number | null, removed: number | null, mode_change: {old: string, new: string} | null, is_submodule: boolean}} File */
/** @typedef {{mark: 'head' | 'hunk' | 'added' | 'removed' | 'same', text: string, blanks: string}} Line */

/** @type {Record<string, string>} */
const became = { added: 'new', deleted: 'deleted', modified: '', renamed: 'moved', type_changed: 'type' };

/** @param {{file: File, sensitive: boolean}} props */
const FileRow = ({ file, sensitive }) => h('li', null,
  sensitive && h('span', { class: 'chip' }, 'sensitive'),
  h('span', { class: 'id' }, file.moved_from && [h(Outside, { key: 'from', text: file.moved_from }), ' → '], h(Outside, { text: file.path })),
  ' ', h('span', { class: 'dim' },
    [became[file.status] ?? file.status, file.is_submodule ? 'submodule' : '',
      file.mode_change ? `mode ${file.mode_change.old} → ${file.mode_change.new}` : '',
      file.added === null ? 'binary' : `+${file.added} −${file.removed}`].filter(Boolean).join(' · ')));

/** @param {{line: Line}} props */
const Row = ({ line }) => h('span', { class: `patch-line is-${line.mark}` },
  line.text, line.blanks && h('span', { class: 'blanks' }, line.blanks), '\n');

/** @param {{id: string, seen: string}} props */
const Loaded = ({ id, seen }) => {
  const { data, problem, retry } = useGet(`${path('r', repo.value ?? '', 'tickets', id)}/diff`, [seen]);
  if (!data) return problem ? h(Failed, { problem, retry }) : h(Loading, { rows: 4 });
  /** @type {{words: string, files: File[], more_files: number, sensitive: string[], lines: Line[], more_lines: number, has_secrets: boolean, secrets: {says: string}[], trouble: string | null, passing: string[], unread: string[]}} */
  const change = data;
  return h('div', { class: 'change' },
    h('p', { class: 'dim' }, h(Outside, { text: change.words })),
    h('ul', { class: 'files' }, change.files.map(file => h(FileRow, { key: file.path, file, sensitive: change.sensitive.includes(file.path) })),
      change.more_files > 0 && h('li', { class: 'dim' }, several(change.more_files, '# more file', '# more files'))),
    change.passing.length > 0 && h('p', { class: 'notice' },
      'Its commits also bring what is not in the result, and stays in the history: ',
      change.passing.map((it, n) => [n > 0 && ', ', h(Outside, { key: it, text: it })])),
    change.files.length === 0 && h('p', null, 'No file differs.'),
    change.trouble && h('p', { class: 'notice wrong' }, h(Outside, { text: change.trouble })),
    change.secrets.length > 0 && h('div', { class: 'notice waiting' }, 'These look like secrets:',
      h('ul', null, change.secrets.map(it => h('li', { key: it.says }, h(Outside, { text: it.says }))))),
    change.has_secrets && h('p', { class: 'notice waiting' }, 'What looks like secrets is masked here.'),
    change.lines.length > 0 && h('pre', { class: 'patch', tabIndex: 0, role: 'group', 'aria-label': `The change of ${id}` },
      change.lines.map((line, n) => h(Row, { key: n, line }))),
    change.more_lines > 0 && h('p', { class: 'dim' }, several(change.more_lines, '# more line', '# more lines'), ': ', h('code', null, `crew diff ${id}`), ' shows all.'));
};

/**
 * @param {{id: string, seen: string, open: boolean}} props `seen`: what the person is asked about; when it
 *   changes, the change is read anew. `open`: whether it is shown without being asked for.
 */
export const Change = ({ id, seen, open }) => {
  const [shown, setShown] = useState(open);
  return h('details', {
    open: shown, class: 'change-of',
    onToggle: (/** @type {Event & {currentTarget: HTMLDetailsElement}} */ event) => setShown(event.currentTarget.open),
  }, h('summary', null, 'The change'), shown && h(Loaded, { id, seen }));
};
