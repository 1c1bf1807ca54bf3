import { expect } from 'vitest';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { verifies } from '../../tests/requirements.ts';
import { createNeedsBridgeError } from '../gateway/ports/bridge-interface.ts';
import { createFaultHandler } from '../gateway/server/fault-handler.ts';
import { StorageFullError, VaultReadOnlyError } from '../gateway/storage/vault-errors.ts';
import { toProblem, toSentence } from './problems.ts';

const toFault = createFaultHandler(() => {});

verifies('vault.app/refused', 'shows the gateway’s message, with a link to the right page', () => {
  const describe = (error: unknown): [string, string | undefined] => {
    const { message, link } = toProblem(toFault(error), 'rename the chat');
    return [message, link?.href];
  };
  expect(describe(new VaultReadOnlyError('old'))).toEqual([
    expect.stringMatching(/^Couldn’t rename the chat: this browser runs an older version of Perch than its data.+Reload to update\.$/),
    '/outdated',
  ]);
  expect(describe(new StorageFullError('full'))).toEqual([
    expect.stringMatching(/^Couldn’t rename the chat: storage is full, so nothing was saved\./),
    '/devices#storage',
  ]);
  expect(describe(createNeedsBridgeError({ featureName: 'Speech' }))).toEqual([
    'Couldn’t rename the chat: this needs Perch on your computer. Run “perch gateway run” there and open the link it prints.',
    undefined,
  ]);
  expect(describe(new Error('a bug'))).toEqual([
    expect.stringMatching(/^Couldn’t rename the chat: something went wrong in the gateway/),
    undefined,
  ]);
});

verifies('vault.app/refused', 'a code alone is no sentence', () => {
  expect(toSentence('INTERNAL_ERROR')).toBe('Something went wrong.');
  expect(toSentence('')).toBe('Something went wrong.');
  expect(toSentence('The model is away.')).toBe('The model is away.');
  expect(toProblem(new RpcError('ABORTED', 'ABORTED'), 'rename the chat').message).toBe('Couldn’t rename the chat: something went wrong.');
});
