import { chosenSection } from './requirement.ts';

/** Persons’ permission at other services, by OAuth. */
export const oauth = [
  chosenSection('docs/decisions/0025-oauth.md', {
    'oauth/state':
      'A link is good once, for ten minutes by a clock that nobody sets, and for who asked for it; a later one takes its place.',
    'oauth/callback':
      '`GET /oauth/callback` at the bridge needs no token, is only for a navigation in a browser of the machine, and goes to the host that serves.',
    'oauth/guessing': 'Ten unknown links within a minute, and no more are looked at for a while; pages that are merely open cannot try.',
    'oauth/page':
      'Who comes back sees a plain page, with no script and nothing of the address in it that could act: that it is done, or what went wrong and what to do.',
    'oauth/denied': 'Who is not given permission: nothing is traded, and who asked for it is told.',
  }),
];
