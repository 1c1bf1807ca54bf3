import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { faults } from '../gateway/core/faults.ts';
import { StorageFull, VaultReadOnly } from '../gateway/core/vault.ts';
import { problemOf } from './errors.ts';

const told = faults(() => {});

verifies('vault.app/refused', 'what the gateway says is shown, with where to go', () => {
  const shown = (error: unknown): [string, string | undefined] => {
    const { message, link } = problemOf(told(error), 'rename the chat');
    return [message, link?.href];
  };
  expect(shown(new VaultReadOnly('old'))).toEqual([
    expect.stringMatching(/^Couldn’t rename the chat: this browser runs an older version of Perch than its data.+Reload to update\.$/),
    '/outdated',
  ]);
  expect(shown(new StorageFull('full'))).toEqual([
    expect.stringMatching(/^Couldn’t rename the chat: storage is full, so nothing was saved\./),
    '/devices#storage',
  ]);
  expect(shown(new Error('a bug'))).toEqual([
    expect.stringMatching(/^Couldn’t rename the chat: something went wrong in the gateway/),
    undefined,
  ]);
});
