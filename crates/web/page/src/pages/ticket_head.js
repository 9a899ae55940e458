// The head of a ticket's pages: what it is, how it stands, and the tabs.
import { h } from '../h.js';
import { money } from '../format.js';
import { at } from '../router.js';
import { docs } from '../store.js';
import { words } from '../words.js';
import { PageHead } from '../ui/head.js';
import { Outside, Said } from '../ui/outside.js';
import { Standing } from '../ui/state.js';
import { Age } from '../ui/time.js';

/** The tabs: the word in the address, and the words shown. @type {[string, string][]} */
const tabs = [['', 'Text'], ['output', 'Output'], ['history', 'History'], ['cost', 'Cost']];

/**
 * @param {{id: string, tab: string, ticket?: import('../types').Ticket | null}} props
 *   `ticket`: as it was read, for one that is over. One that is not is taken from the store.
 */
export const TicketHead = ({ id, tab, ticket }) => {
  const it = docs.ticket.value.get(id) ?? ticket ?? null;
  return h('div', { class: 'ticket-head' },
    h(PageHead, { back: at('tickets'), name: `${id} ${it?.title ?? ''}`, title: [h('span', { key: 'id', class: 'id' }, id), ' ', h(Outside, { key: 'title', text: it?.title ?? '' })] }),
    it && h('p', { class: 'ticket-stand' },
      h(Standing, { standing: it.standing }),
      h(Age, { since: it.since, class: 'dim' }),
      it.agent && h('a', { href: at('a', it.agent) }, h(Outside, { text: it.agent })),
      it.attempt && h('span', { class: 'dim' }, `attempt ${it.attempt}`),
      it.step ? h('span', { class: 'dim' }, it.max_steps ? `step ${it.step} of ${it.max_steps}` : words.steps(it.step)) : null,
      it.cost_micro_usd > 0 && h('span', { class: 'dim' }, money(it.cost_micro_usd)),
      h('span', { class: 'dim' }, `priority ${it.priority}`),
      it.tags.map(tag => h('a', { key: tag, class: 'chip', href: `${at('tickets')}?q=${encodeURIComponent(`tag:${tag}`)}` }, h(Outside, { text: tag })))),
    it?.standing.why && h('p', { class: 'ticket-why' }, h(it.standing.sign === 'asks' ? Outside : Said, { text: it.standing.why })),
    h('nav', { class: 'tabs', 'aria-label': `Parts of ${id}` },
      tabs.map(([word, label]) => h('a', { key: word, href: at('t', id, word), 'aria-current': tab === word ? 'page' : undefined }, label))));
};
