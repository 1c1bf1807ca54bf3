import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { verifies } from '../requirements.ts';

const root = join(import.meta.dirname, '../..');
/** Ways to make elements of a text. Svelte escapes all others, so that file names and texts of MCP servers stay text. */
const RAW_HTML = /\{@html|\b(?:innerHTML|outerHTML|srcdoc)\s*=|insertAdjacentHTML|createContextualFragment|document\.write|setHTMLUnsafe/;

verifies('rendering/sanitized', 'no part of the app makes elements of a text but by the sanitizer', () => {
  const files = globSync(['web/**/*.{ts,js,svelte}'], { cwd: root, exclude: ['**/*.test.ts', 'web/**/node_modules/**'] });
  expect(files.length).toBeGreaterThan(500);
  expect(files.filter((file) => RAW_HTML.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
});
