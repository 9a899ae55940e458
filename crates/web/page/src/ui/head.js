// The head of a page: its one heading, and what can be done with the whole of it.
import { h, useEffect } from '../h.js';
import { repository } from '../store.js';
import { waiting } from '../snooze.js';
import { visible } from './outside.js';

/**
 * @param {{title: import('../types').Children, name?: string, beside?: import('../types').Children,
 *   back?: string, children?: import('../types').Children, class?: string}} props
 *   `name`: for the window's title, where `title` is no text. `back`: where the arrow of a narrow page goes.
 */
export const PageHead = ({ title, name, beside, back, children, ...rest }) => {
  const own = name ?? (typeof title === 'string' ? title : '');
  const count = waiting.value;
  const of = repository.value?.name ?? 'crew';
  useEffect(() => {
    document.title = visible(`${count ? `(${count}) ` : ''}${own ? `${own} · ` : ''}${of}`);
  }, [own, count, of]);
  return h('header', { ...rest, class: `page-head ${rest.class ?? ''}` },
    back && h('a', { href: back, class: 'back', 'aria-label': 'Back' }, '‹'),
    h('h1', { tabIndex: -1 }, title),
    beside && h('div', { class: 'beside' }, beside),
    children);
};
