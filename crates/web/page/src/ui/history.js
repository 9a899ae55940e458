// What happened to a ticket, newest first; it grows as the journal does.
import { h, useState } from '../h.js';
import { path } from '../api.js';
import { repo } from '../router.js';
import { several } from '../words.js';
import { Empty, Failed, Loading } from './empty.js';
import { Outside } from './outside.js';
import { Moment } from './time.js';
import { useGet } from './use_get.js';
import { useRows } from './use_rows.js';

/** Events that are shown before more are asked for. */
const FIRST = 100;

/** @param {{id: string, most?: number}} props `most`: only so many, without more. */
export const History = ({ id, most }) => {
  const grown = useRows(`ticket/${id}`);
  const { data, problem, retry } = useGet(`${path('r', repo.value ?? '', 'tickets', id)}/history`, [grown]);
  const [all, setAll] = useState(false);
  if (!data) return problem ? h(Failed, { problem, retry }) : h(Loading, { rows: 4 });
  /** @type {import('../types').Event[]} */
  const events = [...data.events].reverse();
  if (events.length === 0) return h(Empty, { title: 'Nothing has happened yet.' });
  const shown = events.slice(0, most ?? (all ? events.length : FIRST));
  return h('div', null,
    h('ol', { class: 'history' }, shown.map(event => h('li', { key: event.seq, id: String(event.seq) },
      h(Moment, { at: event.at, class: 'dim' }),
      h('div', null,
        h(Outside, { text: event.says }),
        event.cause && h('span', { class: 'dim' }, ' — ', h(Outside, { text: event.cause })),
        most === undefined && (event.effects?.length ?? 0) > 0 && h('details', null,
          h('summary', null, several(event.effects?.length ?? 0, '# effect', '# effects'), ` of #${event.seq}`),
          h('ul', { class: 'effects' }, event.effects?.map((effect, n) => h('li', { key: n }, '→ ', h(Outside, { text: effect.says }))))))))),
    !most && !all && events.length > FIRST && h('p', { class: 'pad' },
      h('button', { type: 'button', onClick: () => setAll(true) }, `All ${events.length} events`)));
};
