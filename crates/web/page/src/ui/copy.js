// A line to type, with a button that copies it.
import { h, useState } from '../h.js';
import { announce } from './toast.js';
import { Outside, visible } from './outside.js';

/** @param {{line: string, label?: string, class?: string}} props */
export const Copy = ({ line, label, ...rest }) => {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(line);
      setCopied(true);
      announce('Copied.');
      setTimeout(() => setCopied(false), 2_000);
    } catch {
      announce('The browser does not let the page copy. Select the line and copy it.');
    }
  };
  return h('span', { ...rest, class: `copy ${rest.class ?? ''}` },
    h('code', null, h(Outside, { text: line })),
    h('button', { type: 'button', class: 'quiet small', onClick: copy, 'aria-label': label ?? `Copy: ${visible(line)}` },
      copied ? 'copied' : 'copy'));
};
