// Rows of the list that is shown: keys move the focus along them.

/** Whether an element is drawn. @param {Element} it */
const isDrawn = it => it instanceof HTMLElement && it.offsetParent !== null;

/** The rows of the list that somebody is in, else of the first one; in the order in which they stand. */
const rows = () => {
  const all = [...document.querySelectorAll('main [data-row]')].filter(isDrawn);
  const here = document.activeElement?.closest('[data-row]') ?? all.find(it => it.getAttribute('aria-current') === 'true') ?? all[0];
  const list = here?.closest('.list, ol, ul');
  const own = all.filter(it => it.closest('.list, ol, ul') === list);
  const place = (/** @type {Element} */ it) => Number(it.getAttribute('aria-rowindex') ?? 0);
  return own.sort((a, b) => place(a) - place(b));
};

/** @param {Element | undefined} row */
const enter = row => {
  const to = row?.matches('a, button, [tabindex]') ? row : row?.querySelector('a.open, a, button');
  if (!(to instanceof HTMLElement)) return;
  to.focus({ preventScroll: true });
  row?.scrollIntoView({ block: 'nearest' });
};

/** The part that scrolls where no list is: an output, or the page. */
const scroller = () => {
  const parts = [...document.querySelectorAll('main .output-box, main .pane')].filter(isDrawn);
  return parts.find(it => it.contains(document.activeElement) && it !== document.activeElement) ?? parts.find(it => it.scrollHeight > it.clientHeight) ?? parts[0];
};

/** To the row that is so many further. @param {number} by */
export const move = by => {
  const own = rows();
  if (own.length === 0) {
    scroller()?.scrollBy({ top: by * 60 });
    return;
  }
  const focused = document.activeElement?.closest('[data-row]');
  const current = own.findIndex(it => it === focused);
  const marked = own.findIndex(it => it.getAttribute('aria-current') === 'true');
  const from = current >= 0 ? current : marked;
  enter(own[from < 0 ? 0 : Math.max(0, Math.min(own.length - 1, from + by))]);
};

/** By a page, or to an end. @param {'page' | 'end'} how @param {number} way 1 for down, -1 for up. */
export const scroll = (how, way) => {
  const box = scroller();
  if (!box) return;
  const isList = rows().length > 0 && !box.matches('.output-box');
  if (how === 'page') box.scrollBy({ top: way * box.clientHeight * 0.9 });
  else box.scrollTo({ top: way > 0 ? box.scrollHeight : 0 });
  if (!isList) return;
  // A long list draws the rows of the new place with the next frame.
  requestAnimationFrame(() => requestAnimationFrame(() => {
    const own = rows();
    const { top, bottom } = box.getBoundingClientRect();
    const seen = own.filter(it => it.getBoundingClientRect().bottom > top + 40 && it.getBoundingClientRect().top < bottom);
    enter(how === 'end' ? own.at(way > 0 ? -1 : 0) : way > 0 ? seen.at(-1) : seen[0]);
  }));
};
