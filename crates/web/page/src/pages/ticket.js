// One ticket: its text, why it stands as it does, what it waits for, its attempts, its history and its cost.
import { h } from '../h.js';
import { path } from '../api.js';
import { cost, number, oid, sentence, short } from '../format.js';
import { at, repo, route } from '../router.js';
import { docs, inbox, state } from '../store.js';
import { tone, words } from '../words.js';
import { Copy } from '../ui/copy.js';
import { Empty, Failed, Loading } from '../ui/empty.js';
import { PageHead } from '../ui/head.js';
import { History } from '../ui/history.js';
import { ItemCard } from '../ui/item.js';
import { Outside, OutsideLines, OutsideLink, Said, SaidLines, visible } from '../ui/outside.js';
import { TicketText } from '../ui/ticket_text.js';
import { TicketActs, offered } from '../ui/ticket_acts.js';
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
    work.git && work.git.subjects.length + work.git.changed > 0 && h('ul', { class: 'commits' },
      work.git.subjects.map((subject, n) => h('li', { key: n }, h(Outside, { text: subject }))),
      work.git.changed > 0 && h('li', { class: 'dim' }, words.files(work.git.changed), ': ', work.git.files.slice(0, 6).map((file, n) => [n ? ', ' : '', h('code', { key: file }, h(Outside, { text: file }))]),
        work.git.changed > 6 ? ' …' : '')))))));

/** A line to type without the place of a person's own words. @param {string} line */
const bare = line => line.replace(/ (<[^>]*>|"…")$/, '');

/**
 * What helps: in words, with the lines to type that no act above has.
 * @param {{remedies: import('../types').Explanation['remedies'], had: string[]}} props
 */
const Remedies = ({ remedies, had }) => (remedies.length === 0 ? null : h('ul', { class: 'remedies', 'aria-label': 'What helps' },
  remedies.map(({ says, lines }) => {
    const rest = lines.filter(line => !had.includes(bare(line)));
    return h('li', { key: says },
      h('p', null, h(Said, { text: sentence(says) })),
      rest.length > 0 && h('p', { class: 'lines-to-type' }, rest.map(line => h(Copy, { key: line, line }))));
  })));

/** Why it stands as it does, as `crew explain` says it. @param {{it: import('../types').Explanation, ticket: import('../types').Ticket}} props */
const Why = ({ it, ticket }) => {
  const { failure, landed, pull_request: pull } = it;
  const notes = [it.file_change, ...it.failing].filter(text => text && !it.says.includes(text));
  return h('section', { class: 'part why', 'aria-label': 'Why' },
    h('h2', null, 'Why'),
    h('p', null, h(SaidLines, { text: sentence(it.says) })),
    it.waits_for && it.waits_for !== it.says && h('p', { class: 'dim' }, 'Its agent waits for ', h(Said, { text: it.waits_for }), it.waits_until && [', until ', h(Moment, { key: 'until', at: it.waits_until })]),
    h(Remedies, { remedies: it.remedies, had: linesOf(ticket).map(bare) }),
    notes.map(text => h('p', { key: text }, h(Said, { text: sentence(text ?? '') }))),
    failure && !it.says.includes(failure.message) && h('p', { class: 'dim' }, failure.class.replaceAll('_', ' '), ': ', h(OutsideLines, { text: failure.message })),
    it.printed && h('pre', { class: 'printed', tabIndex: 0, role: 'group', 'aria-label': 'What was printed' }, h(OutsideLines, { text: it.printed })),
    landed && h('p', null, 'Landed as ', h('code', null, oid(landed.commit)), ' by ', h('a', { href: at('a', landed.agent) }, h(Outside, { text: landed.agent })),
      landed.until && [', ', h(Moment, { key: 'until', at: landed.until })], landed.proof && [': ', h(Outside, { key: 'proof', text: landed.proof })]),
    it.review && h('p', { class: 'dim' }, 'Somebody looks at the work before it lands: ', h(Said, { text: it.review })),
    pull && h('p', null, h(OutsideLink, { url: pull.url }), pull.says && [' ', h(Said, { key: 'says', text: pull.says })]),
    it.commitments.length > 0 && h('ul', { class: 'commitments' }, it.commitments.map(promise =>
      h('li', { key: promise.id }, h('span', { class: `chip ${promise.state === 'failed' ? 'wrong' : promise.state === 'passed' ? 'good' : ''}` }, promise.state), ' ', h(Outside, { text: promise.says })))),
    it.answer && h('p', null, 'Its agent gets your answer with the next step: ', h(Outside, { text: it.answer })),
    it.messages.length > 0 && h('ul', { 'aria-label': 'What its next step is told' }, it.messages.map((line, n) => h('li', { key: n }, 'Its next step gets: ', h(Outside, { text: line })))),
    it.unusable.length > 0 && h('ul', { 'aria-label': 'Lines of its last step that crew could not use' }, it.unusable.map((line, n) => h('li', { key: n }, h(Outside, { text: line })))),
    it.changed_after.length > 0 && h('p', null, 'After it had submitted, its last step changed ', it.changed_after.map((path, n) => [n ? ', ' : '', h('code', { key: path }, h(Outside, { text: path }))])),
    it.kept.map(kept => h('p', { key: kept.place }, h(Said, { text: sentence(kept.says) }), ' ', h(Copy, { line: kept.command }))));
};

/** The text without the title, which stands above it. @param {Read} read */
const untitled = ({ text, ticket }) => {
  const title = `# ${ticket.title}`;
  return text?.trimStart().startsWith(title) ? text.trimStart().slice(title.length) : (text ?? '');
};

/** What waits for a person about a ticket. @param {import('../types').Ticket} ticket */
const itemsOf = ticket => inbox.value.filter(item => item.ticket === ticket.id);

/** The lines to type of the acts that the page offers on a ticket. @param {import('../types').Ticket} ticket */
const linesOf = ticket => {
  const acts = itemsOf(ticket).flatMap(item => item.acts);
  const buttons = offered(ticket, acts.map(act => act.verb));
  return [...acts.map(act => act.typed), ...buttons.map(button => button.line)].flatMap(line => line ?? []);
};

/** What waits for a person, and what can be done. @param {{ticket: import('../types').Ticket}} props */
const Needs = ({ ticket }) => {
  const items = itemsOf(ticket);
  const had = items.flatMap(item => item.acts.map(act => act.verb));
  return h('div', { class: 'ticket-needs' },
    items.map(item => h('div', { key: item.id, class: 'card' }, h(ItemCard, { item, linked: false }))),
    h(TicketActs, { ticket, had }));
};

/** @param {{read: Read, id: string}} props */
const Facts = ({ read, id }) =>
  h('div', { class: 'facts-column' },
    h(Why, { it: read.explanation, ticket: docs.ticket.value.get(id) ?? read.ticket }),
    read.runs.length > 0 && h('section', { class: 'part' }, h('h2', null, 'Output'),
      h('ul', { class: 'ticket-runs' }, read.runs.slice(-8).reverse().map(run => h('li', { key: run.run },
        h('a', { href: `${at('t', id, 'output')}?run=${encodeURIComponent(run.run)}` }, h(Outside, { text: run.title })), ' ', h(Moment, { at: run.since, class: 'dim' }))))),
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

/**
 * What the reason depends on beside the ticket's own rows: it may wait for others. Spans of time in words are left out.
 * @param {import('../types').Ticket} ticket
 */
const reasonOf = ({ refusal, file_change: change, failing, deps }) => JSON.stringify([refusal, change, failing, deps.map(dep => docs.ticket.value.get(dep)?.state)]);

export const Page = () => {
  const [id = '', tab = ''] = route.value.params;
  const known = docs.ticket.value.get(id);
  const grown = useRows(`ticket/${id}`);
  const { data, problem, retry } = useGet(path('r', repo.value ?? '', 'tickets', id), [grown, known?.state, known && reasonOf(known), Boolean(state.value?.engine)]);
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
      h('div', { class: 'ticket-left' }, body ?? h(TicketText, { text: untitled(/** @type {Read} */ (read)) })),
      h('div', { class: 'ticket-right' },
        tab === 'history' ? h(History, { id })
          : read === null ? null
            : tab === 'cost' ? h(CostPart, { read }) : h(Facts, { read, id }))));
};
