// The text of a ticket's file: its headings, code and stressed words are set apart, and all else stays as it was
// written.
import { h } from '../h.js';
import { OutsideLines, visible } from './outside.js';

/** A text with its code and its stressed words set apart. @param {string} text */
const marked = text => text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/).map((piece, n) => {
  if (n % 2 === 0) return visible(piece);
  return piece.startsWith('`') ? h('code', { key: n }, visible(piece.slice(1, -1))) : h('b', { key: n }, visible(piece.slice(2, -2)));
});

/** The text of the ticket's file. @param {{text: string}} props */
export const TicketText = ({ text }) => h('section', { class: 'part ticket-text', 'aria-label': 'Text' },
  text.trim() ? blocks(text.trim()).map(({ kind, text: block }, n) => (
    kind === 'head' ? h('h2', { key: n, class: 'text-head' }, h('bdi', { dir: 'auto' }, marked(block)))
      : kind === 'code' ? h('pre', { key: n, class: 'printed' }, h(OutsideLines, { text: block }))
        : h('div', { key: n }, h('bdi', { dir: 'auto', class: 'lines' }, marked(block))))) : h('p', { class: 'dim' }, 'The ticket has no text.'));

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
