import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { contracts } from '#shared/rpc/methods/index.ts';
import { EXAMPLES } from '../conformance/steps.ts';
import { protocolPage } from '../protocol/page.ts';
import { verifies } from '../requirements.ts';

verifies('docs/protocol', 'the page is what the contracts say: `npm run docs` writes it', () => {
  const page = join(import.meta.dirname, '../../docs/protocol.md');
  expect(readFileSync(page, 'utf8')).toBe(protocolPage(EXAMPLES));
});

verifies('docs/protocol', 'each method but `connect` has an example', () => {
  expect(new Set(['connect', ...EXAMPLES.keys()])).toEqual(new Set(Object.keys(contracts)));
});
