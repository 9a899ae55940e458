// Text: what comes from outside, such as from tickets, agents, git and the system, and what crew says itself. It is always
// a text node, kept apart in `<bdi>`. In crew's own sentences, what stands between backticks is code, and moments are in the
// zone of whoever reads; the words of others stay as they are.
import { h } from '../h.js';
import { pieces, visible } from '../format.js';
import { Moment } from './time.js';

export { visible };

/**
 * One line of text from outside.
 * @param {{text: string | null | undefined, class?: string}} props
 */
export const Outside = ({ text, ...rest }) =>
  h('bdi', { dir: 'auto', ...rest }, visible((text ?? '').replace(/\s*\n\s*/g, ' ')));

/**
 * Several lines of text from outside, as they are.
 * @param {{text: string | null | undefined, class?: string, label?: string}} props
 */
export const OutsideLines = ({ text, label, ...rest }) =>
  h('bdi', { dir: 'auto', ...rest, class: `lines ${rest.class ?? ''}`, 'aria-label': label }, visible(text ?? ''));

/**
 * A link to a page outside crew; the target is shown. Only `http` and `https` become links.
 * @param {{url: string}} props
 */
export const OutsideLink = ({ url }) =>
  (/^https?:\/\//.test(url)
    ? h('a', { href: url, target: '_blank', rel: 'noopener noreferrer' }, h(Outside, { text: url }))
    : h(Outside, { text: url }));

/** @param {string} text */
const parts = text => pieces(text).map(({ kind, text: piece }, n) => {
  if (kind === 'code') return h('code', { key: n }, visible(piece));
  return kind === 'moment' ? h(Moment, { key: n, at: piece }) : visible(piece);
});

/**
 * A sentence of crew, in one line.
 * @param {{text: string | null | undefined, class?: string}} props
 */
export const Said = ({ text, ...rest }) => h('bdi', { dir: 'auto', ...rest }, parts((text ?? '').replace(/\s*\n\s*/g, ' ')));

/**
 * Sentences of crew, in lines as they are.
 * @param {{text: string | null | undefined, class?: string}} props
 */
export const SaidLines = ({ text, ...rest }) =>
  h('bdi', { dir: 'auto', ...rest, class: `lines ${rest.class ?? ''}` }, parts(text ?? ''));
