import { chosen } from './requirement.ts';

/** Search over all chats, and lists of many. */
export const search = [
  chosen('issue "Every RPC method", Sessions', {
    'search/index': 'Search finds what a look at every message would find, whatever was stored, changed or deleted, here or on another host.',
  }),
];
