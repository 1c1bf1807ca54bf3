import { Icon } from '../../web/kit/icons/icon.ts';
import { FA_GLYPHS } from '../../web/kit/icons/fa-icons.ts';
import { type Glyph, toSvgText } from '../../web/kit/icons/glyph.ts';
import { LUCIDE_GLYPHS } from '../../web/kit/icons/lucide-icons.ts';
import { SCENES } from './gallery-scenes.ts';

const PAGE_STYLE = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; background: light-dark(#ffffff, #131316); color: light-dark(#1b1b1f, #e4e2e6); }
body { max-width: 72rem; margin: 0 auto; padding: 1rem; }
ul { display: grid; grid-template-columns: repeat(auto-fill, minmax(13.5rem, 1fr)); gap: 1rem; padding: 0; list-style: none; }
ul.icons { grid-template-columns: repeat(auto-fill, minmax(8rem, 1fr)); }
figure { margin: 0; }
figure img { display: block; max-width: 100%; border-radius: 8px; box-shadow: 0 0 0 1px light-dark(#c5c6d0, #45464f); }
.icons figure { display: flex; flex-direction: column; gap: 0.5rem; align-items: center; text-align: center; }
figcaption { overflow-wrap: anywhere; font-size: 0.875rem; }`;

const toIconHtml = (name: string, svg: string): string => `<li><figure>${svg}<figcaption><code>${name}</code></figcaption></figure></li>`;
const glyphs = (set: ReadonlyMap<string, Glyph>): string[] =>
  [...set].map(([name, glyph]) => toIconHtml(name, toSvgText(glyph, { size: 32 })));
const meanings = (): string[] =>
  Object.entries(Icon).flatMap(([name, make]) =>
    make instanceof Function ? [toIconHtml(`Icon.${name}()`, make({ size: 32 }).toSvg())] : [],
  );
const toSectionHtml = (title: string, items: readonly string[], look = ''): string[] => [
  `<h2>${title}</h2>`,
  `<ul${look}>`,
  ...items,
  '</ul>',
];

/** `docs/gallery.html`: every shape and every icon of `perch/ui`, drawn by it. Its pictures are those that a browser is compared with. */
export function createGalleryPage(): string {
  return `${[
    '<!doctype html>',
    '<html lang="en">',
    '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Perch: shapes and icons</title>',
    `<style>${PAGE_STYLE}</style></head>`,
    '<body><h1>Shapes and icons</h1>',
    '<p>Drawn by <code>perch/ui</code>. <code>npm run docs</code> writes this page; a test in Chromium compares the pictures, and writes them anew with <code>PERCH_PICTURES=write</code>.</p>',
    ...toSectionHtml(
      'Shapes',
      SCENES.map(
        ({ name, says: caption, drawing: { page } }) =>
          `<li><figure><img src="gallery/${name}.png" width="${page.width}" height="${page.height}" alt="${caption}"><figcaption><b>${name}</b>: ${caption}</figcaption></figure></li>`,
      ),
    ),
    ...toSectionHtml('Icons by what they mean', meanings(), ' class="icons"'),
    ...toSectionHtml('Set A: Font Awesome Free', glyphs(FA_GLYPHS), ' class="icons"'),
    ...toSectionHtml('Lucide', glyphs(LUCIDE_GLYPHS), ' class="icons"'),
    '</body></html>',
  ].join('\n')}\n`;
}
