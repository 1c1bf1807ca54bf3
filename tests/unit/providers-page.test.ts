import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createProvidersPage } from '../providers/providers-page.ts';
import { verifies } from '../requirements.ts';

verifies('docs/providers', 'the page is what the adapters do: `npm run docs` writes it', async () => {
  expect(await createProvidersPage()).toBe(readFileSync(join(import.meta.dirname, '../../docs/providers.md'), 'utf8'));
});
