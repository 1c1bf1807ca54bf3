import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { verifies } from '../requirements.ts';

const app = join(import.meta.dirname, '../../dist/app');

verifies('walls/imports', 'the built worker has nothing of Node or Svelte in it', () => {
  const workers = readdirSync(app, { recursive: true, encoding: 'utf8' }).filter((file) => /workers?[\\/].*\.js$/.test(file));
  const texts = workers.map((file) => readFileSync(join(app, file), 'utf8'));
  const gateway = texts.filter((text) => text.includes('chat.send'));
  expect(gateway).not.toEqual([]);
  for (const text of texts) {
    expect(text).not.toMatch(/["'`]node:[a-z]/);
    expect(text).not.toMatch(/svelte\.dev|__svelte|\bimport\s*["'][^"']*svelte/);
  }
});
