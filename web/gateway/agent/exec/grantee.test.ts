import { expect, test } from 'vitest';
import { toGrantee } from './grantee.ts';

test('a policy is given to whoever is behind the command', () => {
  expect(['owner', 'app:a', 'device:d', 'key:k', 'channel:c', 'cron'].map((principal) => toGrantee(principal))).toEqual([
    'owner',
    'owner',
    'owner',
    'key:k',
    'channel:c',
    'cron',
  ]);
  expect(['app:a', 'cron', 'key:k', 'channel:c'].map((principal) => toGrantee(principal, 'main'))).toEqual([
    'agent:main',
    'agent:main',
    'key:k',
    'channel:c',
  ]);
});
