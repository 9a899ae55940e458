// Pairing this browser: by a link, or by hand. The code is taken out of the address at once.
import { h, useEffect, useState } from '../h.js';
import { sentence } from '../format.js';
import { Problem, base, pair, session, unpair } from '../api.js';
import { go, route } from '../router.js';
import { Copy } from '../ui/copy.js';
import { Said } from '../ui/outside.js';

/** The code of a link or of a text that holds one. @param {string} text */
const codeOf = text => {
  const hash = text.lastIndexOf('#');
  return (hash < 0 ? text : text.slice(hash + 1)).trim();
};

/** What this browser may be called. */
const nameOf = () => {
  const agent = navigator.userAgent;
  const browser = /Firefox|Edg|Chrome|Safari/.exec(agent)?.[0]?.replace('Edg', 'Edge') ?? 'browser';
  const system = /iPhone|iPad|Android|Windows|Mac OS|Linux/.exec(agent)?.[0] ?? '';
  return system ? `${browser} on ${system}` : browser;
};

// Taken when the page is loaded, before anything is drawn, so that it is in no history.
let code = route.peek().page === 'pair' ? codeOf(route.peek().hash) : '';
let wanted = route.peek().page === 'pair' ? base : location.href;
// The route is without it, too: the page would take it for that of another link.
if (code) go('pair', { replace: true });

export const Page = () => {
  const [text, setText] = useState('');
  const [name, setName] = useState(nameOf);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(/** @type {Problem | null} */ (null));
  const { state } = session.value;
  const paired = state === 'paired';

  const send = async (/** @type {string} */ it) => {
    setBusy(true);
    setProblem(null);
    try {
      await pair(it, name.trim() || nameOf());
      go(wanted, { replace: true });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setProblem(error);
    }
    setBusy(false);
  };

  useEffect(() => {
    const it = code;
    code = '';
    if (it) send(it);
  }, []);

  // A link that is opened in a tab where the page is already there.
  const { hash, page } = route.value;
  useEffect(() => {
    if (page !== 'pair' || !hash) return;
    go('pair', { replace: true });
    wanted = base;
    send(codeOf(hash));
  }, [hash]);

  return h('main', { class: 'whole pair', id: 'main' },
    h('p', { class: 'brand-large', 'aria-hidden': 'true' }, '● crew'),
    h('h1', { tabIndex: -1 }, busy ? 'Pairing…' : state === 'refused' ? 'This browser is not paired any more' : paired ? 'This browser is paired' : 'Pair this browser'),
    state === 'refused' && h('p', null, 'It was revoked, or it has not been used for 90 days.'),
    problem && h('div', { class: 'notice wrong', role: 'alert' },
      h('p', null, h(Said, { text: sentence(problem.message) })),
      problem.hint && h('p', { class: 'dim' }, h(Said, { text: sentence(problem.hint) }))),
    paired && !problem && h('p', null, h('a', { href: base }, 'Go to what waits for you')),
    h('p', null, 'In a terminal on the machine where crew runs, type'),
    h('p', null, h(Copy, { line: 'crew web pair' })),
    h('p', { class: 'dim' }, 'and open the link that it prints in this browser, or paste it here. A link is good once, for ten minutes.'),
    h('form', {
      class: 'pair-form',
      onSubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        const it = codeOf(text);
        if (it && !busy) send(it);
      },
    },
    h('label', { class: 'field' }, 'The link, or its code',
      h('input', {
        type: 'text', value: text, autocomplete: 'off', autocapitalize: 'off', spellcheck: false, required: true,
        placeholder: `${base}pair#…`,
        onInput: (/** @type {Event & {currentTarget: HTMLInputElement}} */ event) => setText(event.currentTarget.value),
      })),
    h('label', { class: 'field' }, 'The name of this browser, as your other devices see it',
      h('input', {
        type: 'text', value: name, maxLength: 40,
        onInput: (/** @type {Event & {currentTarget: HTMLInputElement}} */ event) => setName(event.currentTarget.value),
      })),
    h('button', { type: 'submit', class: 'main', 'aria-disabled': busy ? 'true' : undefined }, 'Pair')),
    state === 'refused' && h('button', { type: 'button', class: 'quiet', onClick: unpair }, 'Forget the old pairing'));
};
