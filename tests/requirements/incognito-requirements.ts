import { chosenSection } from './requirement.ts';

/** Chats that are kept nowhere. */
export const incognito = [
  chosenSection('ux.md, "Chat"; docs/decisions/0061-incognito.md', {
    'incognito/streams':
      '`incognito.send` takes the whole conversation and streams the answer and the thoughts before it to the connection that asked, and to no other.',
    'incognito/stores-nothing':
      'No word of it is in any store afterwards, nor in the log, whether it ends well, fails or is aborted; usage has tokens and cost by model and caller, and no session.',
    'incognito/alone':
      'It is offered no tools and told nothing from memory or earlier chats, by the guide neither; no other model takes over.',
    'incognito/one-terminal-event':
      'Exactly one of `incognito.done` and `incognito.error` for each answer, whatever the provider does; only wrong params have none.',
    'incognito/aborts':
      '`incognito.abort` ends an answer of the same caller, down to the provider; so does the end of the connection that asked.',
    'incognito/page':
      'The page Incognito answers, stops, answers again and edits as a chat does, says what is kept nowhere, and asks before it is left with messages.',
    'incognito/page-forgets':
      'Leaving or reloading forgets it: databases, local storage, caches, the bridge’s files, titles and lists have no word of it.',
    'incognito/demo': 'It works in the demo.',
  }),
];
