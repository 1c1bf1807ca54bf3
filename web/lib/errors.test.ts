import { expect } from 'vitest';
import { RpcError } from '#shared/rpc/errors.ts';
import { verifies } from '../../tests/requirements.ts';
import { needsBridge } from '../gateway/core/bridge.ts';
import { faults } from '../gateway/core/faults.ts';
import { StorageFull, VaultReadOnly } from '../gateway/core/vault.ts';
import { problemOf, toSentence } from './errors.ts';

const told = faults(() => {});

verifies('vault.app/refused', 'shows the gateway’s message, with a link to the right page', () => {
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
  expect(shown(needsBridge({ what: 'Speech' }))).toEqual([
    'Couldn’t rename the chat: this needs Perch on your computer. Run “perch gateway run” there and open the link it prints.',
    undefined,
  ]);
  expect(shown(new Error('a bug'))).toEqual([
    expect.stringMatching(/^Couldn’t rename the chat: something went wrong in the gateway/),
    undefined,
  ]);
});

verifies('vault.app/refused', 'a code alone is no sentence', () => {
  expect(toSentence('INTERNAL_ERROR')).toBe('Something went wrong.');
  expect(toSentence('')).toBe('Something went wrong.');
  expect(toSentence('The model is away.')).toBe('The model is away.');
  expect(problemOf(new RpcError('ABORTED', 'ABORTED'), 'rename the chat').message).toBe('Couldn’t rename the chat: something went wrong.');
});
