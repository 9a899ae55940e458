// The repositories of this server, where the address names none.
import { h, useEffect } from '../h.js';
import { base } from '../api.js';
import { go } from '../router.js';
import { repos } from '../store.js';
import { Empty, Loading } from '../ui/empty.js';
import { PageHead } from '../ui/head.js';
import { Outside } from '../ui/outside.js';

export const Page = () => {
  const all = repos.value;
  useEffect(() => {
    if (all?.length === 1) go(`r/${encodeURIComponent(all[0].id)}/`, { replace: true });
  }, [all]);
  if (!all) return h('div', { class: 'pane' }, h(Loading, null));
  return h('div', { class: 'pane' },
    h(PageHead, { title: 'Repositories' }),
    all.length === 0 && h(Empty, { title: 'This server shows no repository.', type: ['crew web'] },
      'Type it in a repository that has a crew.toml.'),
    h('ul', { class: 'pad' }, all.map(({ id, name, path }) => h('li', { key: id, class: 'card pad' },
      h('a', { href: `${base}r/${encodeURIComponent(id)}/` }, h('b', null, h(Outside, { text: name }))), ' ',
      h(Outside, { class: 'dim mono', text: path })))));
};
