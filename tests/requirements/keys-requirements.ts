import { chosenSection } from './requirement.ts';

/** Keys for programs. */
export const keys = [
  chosenSection('decisions, "HTTP"', {
    'keys/made': 'A key has a name, scopes and limits; its secret is told once.',
    'keys/hash': 'Of a secret only the SHA-256 is kept.',
    'keys/changed': 'Name, scopes and single limits of a key can be changed; a revoked one is gone.',
    'keys/scopes': 'A key never has the scope admin.',
    'keys/scope-table': 'Every method requires exactly one scope, in one table.',
    'keys/levels': 'The scopes read and write allow what they allowed before single scopes.',
    'keys/older-build': 'A build that does not know single scopes denies a key that has them.',
    'keys/areas': 'A scope allows the methods and paths of its area and no others.',
    'keys/connect-scopes': '`connect.params.scopes` restricts a connection to scopes that its key has, and never widens it.',
    'keys/default': 'A key has the scope v1 if none is named.',
    'keys/messages': 'What a key writes in a chat is content from outside to replies that others ask for, unless the key has all scopes.',
    'keys/events': 'Events and broadcasts reach a key only if its scopes cover them.',
    'keys/tools': 'An agent that a key runs uses only tools that the agent and the key’s scopes both allow.',
    'keys/tools-hidden': 'The model of a run by a key is not offered other tools.',
    'keys/instructions': 'Skills, prompts and memory in files need their own scope besides files.',
    'keys/changed-meanwhile': 'A tool call goes by the scopes that the key has at that moment.',
    'keys/jobs': 'A job whose content a key has set runs with that key’s scopes.',
    'keys/own-sessions': 'A key without the scope chat reaches only sessions of its own over HTTP.',
    'keys/use': 'The scopes that a key has used are stored, at most once a minute.',
    'keys/doctor': 'Doctor names keys that have more scopes than they use.',
    'cli.keys/row': '`perch keys` lists, creates, narrows and revokes API keys.',
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
