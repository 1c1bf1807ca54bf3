import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createChannelsPage } from '../channels/channels-page.ts';

it('docs/channels.md says what the channels can do', () => {
  expect(createChannelsPage()).toBe(readFileSync(join(import.meta.dirname, '../../docs/channels.md'), 'utf8'));
});
