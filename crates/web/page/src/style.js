// The looks of the pages that are not the first ones, of the palette and of the keys: who imports this waits for them.

const link = document.createElement('link');
link.rel = 'stylesheet';
link.href = new URL('../css/pages.css', import.meta.url).href;
// A page without its looks is better than none.
await new Promise(resolve => {
  link.addEventListener('load', resolve);
  link.addEventListener('error', resolve);
  document.head.append(link);
});
