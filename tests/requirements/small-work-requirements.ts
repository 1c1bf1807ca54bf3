import { chosenSection } from './requirement.ts';

/** Titles, summaries and memory extraction, which Perch does beside chats. */
export const smallWork = [
  chosenSection('docs/decisions/0103-small-models.md', {
    'small-work/model':
      'Small work runs on a small model of the chat’s provider, on the chat’s own where there is none, or as `chat.smallModel` says.',
    'small-work/fallback': 'If the small model fails, the chat’s own does the work.',
    'small-work/usage': 'Usage records what calls were for, and `usage.get` sums them by purpose.',
    'titles/made': 'A chat with a person gets a title by a model after its first reply, and nothing waits for it.',
    'titles/kept': 'A title that a person gave, or that a chat began with, is never replaced.',
    'titles/taint': 'A title is made from nothing that may stem from outside.',
  }),
  chosenSection('docs/decisions/0104-default-instructions.md', {
    'agents/default-behaviour': 'A model that follows the default instructions does scripted tasks as they say.',
    'agents/default-instructions':
      'Agents without instructions get short default ones, which name only tools that the run has or can find.',
  }),
];
