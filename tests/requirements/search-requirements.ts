import { chosenSection } from './requirement.ts';

/** Search over all chats, and lists of many. */
export const search = [
  chosenSection('issue "Every RPC method", Sessions', {
    'search/index':
      'Search finds what a look at every message would find, whatever was stored, changed or deleted, here or on another host.',
    'search/phrases': 'A phrase is sought in messages whose words follow one another so; the others are not read.',
    'search/rebuilt':
      'An index that is missing, broken or of an older form is made anew from the messages, and meanwhile search says that it is incomplete.',
    'sessions.search/finds':
      '`sessions.search` finds sessions by titles and messages, with a snippet and where in it the words stand; filters and pages narrow it.',
    'sessions.list/pages': '`sessions.list` gives all sessions, or pages of those that fit, and follows every change.',
    'tools/session-search': 'The tool `session_search` and the guide find messages of any age.',
  }),
];
