import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const webDir = join(import.meta.dirname, '..');
/** Physical sides in CSS. Exempt are centred positions (`left: 50%`) and the alignment that Markdown itself calls right. */
const PHYSICAL_SIDES =
  /(?:^|[\s;{])((?:margin|padding|border)-(?:left|right)|(?:left|right): (?!50%)|text-align: left|border-(?:top|bottom)-(?:left|right)-radius)/gu;
const ALLOWED = new Map([['features/chat/UserBubble.svelte', ['border-bottom-right-radius', 'border-bottom-left-radius']]]);

test('styles name where a line begins and ends, not left and right, so that they turn with the language', async () => {
  const names = (await readdir(webDir, { recursive: true })).filter((name) => /\.(?:svelte|css)$/u.test(name));
  const sided = await Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(webDir, name), 'utf8');
      const css = name.endsWith('.css') ? text : text.slice(text.lastIndexOf('<style'));
      return [...css.replace(/\/\*.*?\*\//gsu, '').matchAll(PHYSICAL_SIDES)]
        .map(([, rule]) => `${name}: ${rule}`)
        .filter((found) => !ALLOWED.get(name)?.some((rule) => found.endsWith(rule)));
    }),
  );
  expect(names.length).toBeGreaterThan(100);
  expect(sided.flat()).toEqual([]);
});
