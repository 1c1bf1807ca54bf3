import { getCountYears, NEST_COUNTS } from './nest-counts.ts';

/** A page about the counts, as a model would write it: bars that grow when it opens, and buttons that choose a species. */
export function createLakeCountPage(season: number, scheme: 'light dark' | 'dark' = 'light dark'): string {
  const data = JSON.stringify(NEST_COUNTS.map(({ species, nests, colour }) => ({ species, nests, colour })));
  return `<!doctype html>
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Nests at the lake</title>
<style>
  :root { color-scheme: ${scheme}; font: 16px/1.5 system-ui, sans-serif; }
  body { display: grid; align-content: center; gap: 20px; max-width: 640px; min-height: 100vh; box-sizing: border-box; margin: 0 auto; padding: 24px; background: light-dark(#f6f4ee, #14201d); color: light-dark(#1d2b28, #e4ece8); }
  h1 { margin: 0; font-size: clamp(22px, 5vw, 32px); line-height: 1.2; }
  p { margin: 0; }
  nav { display: flex; flex-wrap: wrap; gap: 8px; }
  button { padding: 8px 16px; border: 1px solid light-dark(#b9c4be, #47564f); border-radius: 999px; background: none; color: inherit; font: inherit; cursor: pointer; }
  button[aria-pressed='true'] { border-color: transparent; background: light-dark(#1f5f54, #8fd0c0); color: light-dark(#fff, #10201d); }
  #bars { display: grid; grid-template-columns: repeat(5, 1fr); gap: 12px; align-items: end; height: 240px; }
  figure { display: grid; grid-template-rows: 1fr auto; gap: 6px; height: 100%; margin: 0; text-align: center; font-variant-numeric: tabular-nums; }
  .bar { align-self: end; border-radius: 8px 8px 0 0; transition: height 0.6s ease-out; }
  @media (prefers-reduced-motion: reduce) { .bar { transition: none; } }
  strong { display: block; font-size: 18px; }
</style>
<h1>Nests at the lake</h1>
<nav aria-label="Species"></nav>
<div id="bars"></div>
<p id="note" role="status"></p>
<script>
  const years = ${JSON.stringify(getCountYears(season))};
  const counts = ${data};
  const all = { species: 'All species', colour: '#1f7a6d', nests: years.map((_, i) => counts.reduce((sum, each) => sum + each.nests[i], 0)) };
  const nav = document.querySelector('nav');
  const bars = document.querySelector('#bars');
  const add = (parent, tag, text = '') => {
    const element = parent.appendChild(document.createElement(tag));
    element.textContent = text;
    return element;
  };
  const columns = years.map((year) => {
    const figure = add(bars, 'figure');
    const bar = add(figure, 'div');
    bar.className = 'bar';
    bar.style.height = 0;
    const caption = add(figure, 'figcaption');
    const count = add(caption, 'strong');
    caption.append(year);
    return { bar, count };
  });
  function show(chosen) {
    const top = Math.max(...chosen.nests);
    columns.forEach(({ bar, count }, i) => {
      bar.style.background = chosen.colour;
      bar.style.height = (chosen.nests[i] / top) * 100 + '%';
      count.textContent = chosen.nests[i];
    });
    const change = chosen.nests[4] - chosen.nests[3];
    document.querySelector('#note').textContent = chosen.species + ': ' + chosen.nests[4] + ' nests, ' + change + ' more than last year.';
    for (const button of nav.children) button.setAttribute('aria-pressed', button.textContent === chosen.species);
  }
  for (const each of [all, ...counts]) {
    add(nav, 'button', each.species).onclick = () => show(each);
  }
  requestAnimationFrame(() => show(all));
</script>`;
}
