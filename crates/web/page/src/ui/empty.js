// What is shown where nothing is: nothing yet, nothing at all, or an error of a part.
import { h, useEffect, useState } from '../h.js';
import { sentence } from '../format.js';
import { Copy } from './copy.js';
import { Said } from './outside.js';

/**
 * Nothing is there: says so, and what to type where that helps.
 * @param {{title: string, children?: import('../types').Children, type?: string[], symbol?: string}} props
 */
export const Empty = ({ title, children, type = [], symbol }) => h('div', { class: 'empty' },
  symbol && h('div', { class: 'empty-symbol', 'aria-hidden': 'true' }, symbol),
  h('p', { class: 'empty-title' }, h(Said, { text: sentence(title) })),
  children && h('div', { class: 'empty-more' }, children),
  type.map(line => h('p', { key: line }, h(Copy, { line }))));

/** Loading is shown only when it takes longer than a blink. @param {{rows?: number, label?: string}} props */
export const Loading = ({ rows = 5, label = 'Loading' }) => {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 150);
    return () => clearTimeout(timer);
  }, []);
  if (!late) return null;
  return h('div', { class: 'skeleton', role: 'img', 'aria-label': label },
    Array.from({ length: rows }, (_, n) => h('div', { key: n, class: 'skeleton-row' })));
};

/**
 * A part could not be read: that part alone says so.
 * @param {{problem: {message: string, title?: string, hint?: string | null}, retry?: () => void}} props
 */
export const Failed = ({ problem, retry }) => h('div', { class: 'notice wrong', role: 'group', 'aria-label': 'Error' },
  h('p', null, h('span', { class: 'symbol', 'aria-hidden': 'true' }, '! '), h(Said, { text: sentence(problem.message || problem.title || '') })),
  problem.hint && h('p', { class: 'dim' }, h(Said, { text: problem.hint })),
  retry && h('button', { type: 'button', onClick: retry }, 'Try again'));
