import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { contracts } from '#shared/rpc/methods/index.ts';
import { PARAM_EXAMPLES } from '../conformance/conformance-steps.ts';
import { createProtocolPage } from '../protocol/protocol-page.ts';
import { verifies } from '../requirements.ts';

verifies('docs/protocol', 'the page is what the contracts say: `npm run docs` writes it', () => {
  const page = join(import.meta.dirname, '../../docs/protocol.md');
  expect(readFileSync(page, 'utf8')).toBe(createProtocolPage(PARAM_EXAMPLES));
});

verifies('docs/protocol', 'each method but `connect` has an example', () => {
  expect(new Set(['connect', ...PARAM_EXAMPLES.keys()])).toEqual(new Set(Object.keys(contracts)));
});
