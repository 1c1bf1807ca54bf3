import { chosen } from './requirement.ts';

/** Keys for programs. */
export const keys = [
  chosen('decisions, "HTTP"', {
    'keys/made': 'A key has a name, scopes and limits; its secret is told once.',
    'keys/hash': 'Of a secret only the SHA-256 is kept.',
    'keys/changed': 'Name, scopes and single limits of a key can be changed; a revoked one is gone.',
    'keys/scopes': 'A key never has the scope admin.',
    'keys/persons': 'Only a person makes, changes and revokes keys.',
    'keys/requests': 'A key over its requests per minute gets 429 with Retry-After, and RATE_LIMITED.',
    'keys/tokens': 'Likewise over its tokens per minute.',
    'keys/budget': 'A key over its monthly budget gets 429 insufficient_quota until the next month.',
    'keys/unattended':
      'A key with limits starts nothing that they do not count: no jobs; a plan and a system event that are answered at once count.',
    'keys/hung-up':
      'What a model has written counts, also for a caller who leaves before its end, and whatever it is: text, thoughts, calls.',
    'keys/last-used': 'When a key was last used is noted.',
    'keys/admitted': 'A key is let in over HTTP and WebSocket, across a restart of the bridge, and is out at once when it is revoked.',
  }),
];
