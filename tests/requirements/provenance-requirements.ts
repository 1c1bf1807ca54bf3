import { chosenSection } from './requirement.ts';

/** Origins of what is remembered, and forgetting. */
export const provenance = [
  chosenSection('decisions, "Provenance and forgetting"', {
    'provenance/chain': 'A memory, daily summary, claim and dream names the messages that it was made from.',
    'provenance/changes': 'A change of an entry or of a source that was not recorded shows, also if the record was changed with it.',
    'provenance/edits': 'A person’s edit is a new version of the same chain, in the app, in the file, and in the folder.',
    'forgetting/preview': 'Before something is forgotten, a person sees each piece that goes, and what stays and why.',
    'forgetting/reach':
      'Forgetting reaches memories, notes, summaries, claims, pages, dreams, contexts, earlier versions, conflicts and the trash.',
    'forgetting/probes':
      'After forgetting, a thousand probes find nothing: searches, recall, tools, `/v1`, the database, files, a backup and another replica.',
    'forgetting/chats': 'Chats stay unless chosen; memory, summaries and dreaming no longer read their messages.',
    'forgetting/person': 'Only a person can preview and apply it.',
    'forgetting/proposal': 'An agent can propose to forget something, which a person confirms on a card with what would go.',
    'forgetting/report': 'The report says what was deleted and what remains, and contains nothing of the text.',
  }),
];
