import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const web = join(import.meta.dirname, '..');
/** Physical sides in CSS. Exempt are centred positions (`left: 50%`) and the alignment that Markdown itself calls right. */
const SIDED =
  /(?:^|[\s;{])((?:margin|padding|border)-(?:left|right)|(?:left|right): (?!50%)|text-align: left|border-(?:top|bottom)-(?:left|right)-radius)/gu;
const MEANT = new Map([['lib/ui/chat/Bubble.svelte', ['border-bottom-right-radius', 'border-bottom-left-radius']]]);

test('styles name where a line begins and ends, not left and right, so that they turn with the language', async () => {
  const names = (await readdir(web, { recursive: true })).filter((name) => /\.(?:svelte|css)$/u.test(name));
  const sided = await Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(web, name), 'utf8');
      const css = name.endsWith('.css') ? text : text.slice(text.lastIndexOf('<style'));
      return [...css.replace(/\/\*.*?\*\//gsu, '').matchAll(SIDED)]
        .map(([, rule]) => `${name}: ${rule}`)
        .filter((found) => !MEANT.get(name)?.some((rule) => found.endsWith(rule)));
    }),
  );
  expect(names.length).toBeGreaterThan(100);
  expect(sided.flat()).toEqual([]);
});
