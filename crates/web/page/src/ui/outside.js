// Text from outside: tickets, agents, git, the system. It is always a text node, kept apart in `<bdi>`.
import { h } from '../h.js';

// Characters that would hide, reorder or fake text: shown as escapes, as everywhere in crew.
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** @param {string} text */
export const visible = text => text.replace(hidden, c => {
  const code = /** @type {number} */ (c.codePointAt(0));
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
});

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
