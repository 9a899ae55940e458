// An item of the inbox that waits no more: how it was settled, by whom and when.
import { h } from '../h.js';
import { path } from '../api.js';
import { sentence } from '../format.js';
import { at, repo } from '../router.js';
import { agentsWords, kindOf } from '../words.js';
import { Empty, Failed, Loading } from './empty.js';
import { Outside, Said } from './outside.js';
import { Moment } from './time.js';
import { useGet } from './use_get.js';

/** What became of an item that waits no more. @param {{id: string}} props */
export const Settled = ({ id }) => {
  const { data, problem, retry } = useGet(path('r', repo.value ?? '', 'inbox', id));
  const now = h('p', null, h('a', { href: at('inbox') }, 'What waits now'));
  if (problem?.status === 404) return h(Empty, { title: 'Nothing ever waited here.', symbol: '∅' }, h('p', null, h(Said, { text: sentence(problem.detail ?? '') }), '.'), now);
  if (problem) return h(Failed, { problem, retry });
  if (!data) return h(Loading, { rows: 3 });
  const { ticket, kind, why, settled } = data;
  return h(Empty, { title: 'This waits no more.', symbol: '✓' },
    why && h('p', null, kindOf(kind).words, ': ', h(agentsWords.has(kind) ? Outside : Said, { text: why })),
    settled
      ? h('p', null, h(Said, { text: sentence(settled.says) }), settled.cause && [' (', h(Said, { key: 'cause', text: settled.cause }), ')'], ', ', h(Moment, { at: settled.at }), '.')
      : h('p', null, kind ? 'It was dealt with, or what it waited for has come.' : 'The journal does not say how entries of this kind are settled.'),
    ticket && h('p', null, h('a', { href: at('t', ticket) }, `Ticket ${ticket}`), ' · ', h('a', { href: at('t', ticket, 'history') }, `What happened to ${ticket}`)),
    now);
};
