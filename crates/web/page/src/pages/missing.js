// An address that is none of crew's.
import { h } from '../h.js';
import { at } from '../router.js';
import { Empty } from '../ui/empty.js';
import { PageHead } from '../ui/head.js';

export const Page = () => h('div', { class: 'pane' },
  h(PageHead, { title: 'Not found' }),
  h(Empty, { title: 'There is no such page.', symbol: '∅' }, h('a', { href: at('inbox') }, 'What waits for you')));
