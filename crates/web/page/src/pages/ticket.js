// One ticket: its text, what it waits for, its attempts, its history and its cost.
import { h } from '../h.js';
import { path } from '../api.js';
import { refusalOf } from '../filter.js';
import { cost, number, oid, short } from '../format.js';
import { at, repo, route } from '../router.js';
import { docs, inbox } from '../store.js';
import { tone, words } from '../words.js';
import { Copy } from '../ui/copy.js';
import { Empty, Failed, Loading } from '../ui/empty.js';
import { PageHead } from '../ui/head.js';
import { History } from '../ui/history.js';
import { ItemCard } from '../ui/item.js';
import { Outside, OutsideLines, OutsideLink, visible } from '../ui/outside.js';
import { TicketActs } from '../ui/ticket_acts.js';
import { Moment } from '../ui/time.js';
import { useGet } from '../ui/use_get.js';
import { useRows } from '../ui/use_rows.js';
import { TicketHead } from './ticket_head.js';

/** @typedef {import('../types').TicketPage} Read */
/** @typedef {import('../types').Related} Related */

/** @param {{title: string, all: Related[]}} props */
const Relations = ({ title, all }) => (all.length === 0 ? null : h('section', { class: 'part' },
  h('h2', null, title),
  h('div', { class: 'chips' }, all.map(({ id, title: its, word, symbol }) =>
    h('a', { key: id, class: 'chip', href: at('t', id), title: visible(its) },
      h('span', { 'aria-hidden': 'true' }, symbol), h('span', { class: 'id' }, id), h('span', { class: 'clip' }, h(Outside, { text: its })), h('span', { class: 'relation-word' }, h(Outside, { text: word })))))));

/** @param {{works: import('../types').Work[]}} props */
const Attempts = ({ works }) => (works.length === 0 ? null : h('section', { class: 'part' },
  h('h2', null, 'Attempts'),
  h('ol', { class: 'attempts' }, works.map(work => h('li', { key: work.attempt },
    h('p', { class: 'attempt-head' },
      h('b', null, `attempt ${work.attempt}`), h('span', null, h(Outside, { text: work.came_to })),
      h('span', { class: 'dim' }, words.steps(work.steps)), h('span', { class: 'dim' }, cost(work.usage)),
      h('span', { class: 'dim end' }, h(Moment, { at: work.since }), work.until && [' – ', h(Moment, { key: 'until', at: work.until })])),
    work.commit && h('p', { class: 'dim' }, 'landed as ', h('code', null, oid(work.commit))),
    work.summary && h('blockquote', { class: 'summary' }, h(OutsideLines, { text: work.summary })),
    work.git && h('ul', { class: 'commits' },
      work.git.subjects.map((subject, n) => h('li', { key: n }, h(Outside, { text: subject }))),
      h('li', { class: 'dim' }, words.files(work.git.changed), ': ', work.git.files.slice(0, 6).map((file, n) => [n ? ', ' : '', h('code', { key: file }, h(Outside, { text: file }))]),
        work.git.changed > 6 ? ' …' : '')))))));

/**
 * What the ticket itself says of why it stands as it does; null where nothing is in the way.
 * @param {import('../types').Ticket} ticket
 */
const whyOf = ticket => {
  const { standing, file_change: change, failing, commitments, pull_request: pull } = ticket;
  const refusal = refusalOf(ticket);
  const says = refusal === standing.why ? null : refusal;
  if (!says && !change && failing.length + commitments.length === 0 && !pull) return null;
  return { says, file_change: change, failing, commitments, pull_request: pull };
};

/** What crew says about why it stands as it does. @param {{it: any}} props */
const Why = ({ it }) => {
  if (!it) return null;
  const lines = [...(it.messages ?? []), ...(it.unusable ?? []), ...(it.failing ?? [])];
  return h('section', { class: 'part' },
    h('h2', null, 'Why it stands so'),
    it.says && h('p', null, h(OutsideLines, { text: it.says })),
    it.waits_for && h('p', { class: 'dim' }, 'Waits for: ', h(Outside, { text: it.waits_for })),
    it.file_change && h('p', null, h(OutsideLines, { text: it.file_change })),
    it.review && h('p', { class: 'dim' }, h(Outside, { text: it.review })),
    it.pull_request && h('p', null, h(OutsideLink, { url: it.pull_request.url }), it.pull_request.says && [' ', h(Outside, { key: 'says', text: it.pull_request.says })]),
    (it.commitments ?? []).length > 0 && h('ul', { class: 'commitments' }, it.commitments.map((/** @type {any} */ promise) =>
      h('li', { key: promise.id }, h('span', { class: `chip ${promise.state === 'failed' ? 'wrong' : promise.state === 'passed' ? 'good' : ''}` }, promise.state), ' ', h(Outside, { text: promise.says })))),
    lines.length > 0 && h('ul', null, lines.map((line, n) => h('li', { key: n }, h(Outside, { text: line })))),
    it.landed && h('p', null, 'Landed as ', h('code', null, oid(it.landed.commit)), ': ', h(Outside, { text: it.landed.proof })),
    (it.kept ?? []).map((/** @type {any} */ kept) => h('p', { key: kept.place }, h(Outside, { text: kept.says }), ' ', h(Copy, { line: kept.command }))));
};

/** The text without the title, which stands above it. @param {Read} read */
const untitled = ({ text, ticket }) => {
  const title = `# ${ticket.title}`;
  return text?.trimStart().startsWith(title) ? text.trimStart().slice(title.length) : (text ?? '');
};

/** The text of the ticket's file. @param {{text: string}} props */
const Text = ({ text }) => h('section', { class: 'part ticket-text', 'aria-label': 'Text' },
  text.trim() ? blocks(text.trim()).map(({ kind, text: block }, n) => (
    kind === 'head' ? h('h2', { key: n, class: 'text-head' }, h(Outside, { text: block }))
      : kind === 'code' ? h('pre', { key: n, class: 'printed' }, h(OutsideLines, { text: block }))
        : h('div', { key: n }, h(OutsideLines, { text: block })))) : h('p', { class: 'dim' }, 'The ticket has no text.'));

/**
 * A text in blocks: its headings and its code are set apart, all else stays as it was written.
 * @param {string} text
 */
const blocks = text => {
  /** @type {{kind: 'head' | 'code' | 'text', text: string}[]} */
  const found = [];
  let fenced = false;
  /** @type {string[]} */
  let rest = [];
  const close = () => {
    const block = rest.join('\n').replace(/^\n+|\s+$/g, '');
    if (block) found.push({ kind: fenced ? 'code' : 'text', text: block });
    rest = [];
  };
  for (const line of text.split('\n')) {
    const head = fenced ? null : /^#{1,6}\s+(.*)$/.exec(line);
    if (/^\s*(```|~~~)/.test(line)) {
      close();
      fenced = !fenced;
    } else if (head) {
      close();
      found.push({ kind: 'head', text: head[1] });
    } else rest.push(line);
  }
  close();
  return found;
};

/** What waits for a person, and what can be done. @param {{ticket: import('../types').Ticket}} props */
const Needs = ({ ticket }) => {
  const items = inbox.value.filter(item => item.ticket === ticket.id);
  const had = items.flatMap(item => item.acts.map(act => act.verb));
  return h('div', { class: 'ticket-needs' },
    items.map(item => h('div', { key: item.id, class: 'card' }, h(ItemCard, { item, linked: false }))),
    h(TicketActs, { ticket, had }));
};

/** @param {{read: Read, id: string}} props */
const Facts = ({ read, id }) =>
  h('div', { class: 'facts-column' },
    read.runs.length > 0 && h('section', { class: 'part' }, h('h2', null, 'Output'),
      h('ul', { class: 'ticket-runs' }, read.runs.slice(-8).reverse().map(run => h('li', { key: run.run },
        h('a', { href: `${at('t', id, 'output')}?run=${encodeURIComponent(run.run)}` }, h(Outside, { text: run.title })), ' ', h(Moment, { at: run.since, class: 'dim' }))))),
    h(Why, { it: read.explanation ?? whyOf(docs.ticket.value.get(id) ?? read.ticket) }),
    h(Relations, { title: 'Waits for', all: read.deps }),
    h(Relations, { title: 'Waited for by', all: read.dependants }),
    h(Attempts, { works: read.works }));

/** What its steps cost. @param {{read: Read}} props */
const CostPart = ({ read }) => {
  const { lines, total, running } = read.cost;
  if (lines.length === 0) return h(Empty, { title: 'No step has ended yet.' }, running ? 'One runs: it counts when it has ended.' : null);
  return h('div', { class: 'scroll-x' }, h('table', { class: 'plain' },
    h('caption', { class: 'unseen' }, 'What each step cost'),
    h('thead', null, h('tr', null, ['Attempt', 'Step', 'Agent', 'Ended', 'Tokens in', 'Tokens out', 'Cost', 'Result'].map((head, n) =>
      h('th', { key: head, scope: 'col', class: n > 3 && n < 7 ? 'number' : '' }, head)))),
    h('tbody', null, lines.map((line, n) => h('tr', { key: n },
      h('td', null, line.attempt), h('td', null, line.step),
      h('td', null, line.agent && h('a', { href: at('a', line.agent) }, h(Outside, { text: line.agent }))),
      h('td', { class: 'dim' }, h(Moment, { at: line.at })),
      h('td', { class: 'number' }, short(line.usage.input_tokens)), h('td', { class: 'number' }, short(line.usage.output_tokens)),
      h('td', { class: 'number' }, cost(line.usage)),
      h('td', { class: line.failed ? 'wrong' : 'dim' }, line.failed ? [h('span', { key: 'sign', 'aria-hidden': 'true' }, '! '), (line.failure ?? 'failed').replaceAll('_', ' ')] : 'ended well')))),
    h('tfoot', null, h('tr', null,
      h('th', { scope: 'row', colSpan: 4 }, `${words.steps(total.steps)}${total.failed ? `, ${number(total.failed)} failed` : ''}${running ? ', one runs' : ''}`),
      h('td', { class: 'number' }, short(total.usage.input_tokens)), h('td', { class: 'number' }, short(total.usage.output_tokens)),
      h('td', { class: 'number' }, cost(total.usage)), h('td', null)))),
  h('p', { class: 'dim' }, '~ marks a cost that is estimated, where the client named no price.'));
};

export const Page = () => {
  const [id = '', tab = ''] = route.value.params;
  const known = docs.ticket.value.get(id);
  const grown = useRows(`ticket/${id}`);
  const { data, problem, retry } = useGet(path('r', repo.value ?? '', 'tickets', id), [grown, known?.state]);
  /** @type {Read | null} */
  const read = data;
  const ticket = known ?? read?.ticket ?? null;

  if (!ticket && problem) {
    return h('div', { class: 'pane' }, h(PageHead, { title: id, back: at('tickets') }),
      problem.status === 404
        ? h(Empty, { title: problem.detail || `There is no ticket ${id}.`, symbol: '∅' },
          problem.hint && h('p', null, h(Outside, { text: problem.hint })), h('a', { href: at('tickets') }, 'All tickets'))
        : h('div', { class: 'pad' }, h(Failed, { problem, retry })));
  }
  const body = read === null
    ? (problem ? h(Failed, { problem, retry }) : h(Loading, { rows: 6 }))
    : null;
  return h('div', { class: `pane ticket-page tone-${ticket ? tone(ticket.standing.sign) : ''}` },
    h(TicketHead, { id, tab, ticket }),
    h('div', { class: `ticket-body pad ${tab === '' ? '' : 'is-tab'}` },
      ticket && tab === '' && h(Needs, { ticket }),
      h('div', { class: 'ticket-left' }, body ?? h(Text, { text: untitled(/** @type {Read} */ (read)) })),
      h('div', { class: 'ticket-right' },
        tab === 'history' ? h(History, { id })
          : read === null ? null
            : tab === 'cost' ? h(CostPart, { read })
              : tab === '' ? h(Facts, { read, id })
                : h(Empty, { title: 'There is no such part.' }))));
};
