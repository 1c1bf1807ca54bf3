import { expect, test } from 'vitest';
import { faults } from '../gateway/core/faults.ts';
import { StorageFull, VaultReadOnly } from '../gateway/core/vault.ts';
import { problemOf } from './errors.ts';

const told = faults(() => {});

test.each([
  [
    new VaultReadOnly('old'),
    /^Could not rename the chat: this browser runs an older Perch than its data.+Nothing was stored\.$/,
    '/outdated',
  ],
  [new StorageFull('full'), /^Could not rename the chat: the browser has no room left: nothing was stored\./, '/devices#storage'],
  [new Error('a bug'), /^Could not rename the chat: something went wrong in the gateway/, undefined],
])('what the gateway says of %s is shown, with where to go', (error, message, href) => {
  const problem = problemOf(told(error), 'rename the chat');
  expect(problem.message).toMatch(message);
  expect(problem.link?.href).toBe(href);
});
