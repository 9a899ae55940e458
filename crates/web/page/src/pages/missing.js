// An address that is none of crew's.
import { h } from '../h.js';
import { base } from '../api.js';
import { at, repo, route } from '../router.js';
import { Empty } from '../ui/empty.js';
import { PageHead } from '../ui/head.js';
import { Outside } from '../ui/outside.js';

export const Page = () => h('div', { class: 'pane' },
  h(PageHead, { title: 'Not found' }),
  h(Empty, { title: 'There is no such page.', symbol: '∅' },
    h('p', null, h('code', null, h(Outside, { text: `/${route.value.path}` }))),
    repo.value === null
      ? h('p', null, h('a', { href: base }, 'The repositories'))
      : h('p', null, h('a', { href: at('inbox') }, 'What waits for you'), ' · ', h('a', { href: at('tickets') }, 'All tickets'))));
