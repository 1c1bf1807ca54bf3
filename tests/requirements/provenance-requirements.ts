import { chosenSection } from './requirement.ts';

/** Origins of what is remembered, and forgetting. */
export const provenance = [
  chosenSection('decisions, "Provenance and forgetting"', {
    'provenance/chain': 'A memory, daily summary, claim and dream names the messages that it was made from.',
    'provenance/changes': 'A change of an entry or of a source that was not recorded shows, also if the record was changed with it.',
    'provenance/edits': 'A person’s edit is a new version of the same chain, in the app, in the file, and in the folder.',
  }),
];
