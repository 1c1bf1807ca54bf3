import { chosenSection } from './requirement.ts';

/** Documents of the bridge's disk, and their passages. */
export const sources = [
  chosenSection('decisions, "Passages with places, and folders that are approved per computer"', {
    'sources/approved': 'The bridge reads below paths that a person approved on this computer, and never Perch’s own data.',
    'sources/outside': 'Links, pipes, hidden files and paths that leave a root are not read.',
    'sources/scan': 'A scan lists readable files in pages, obeys `.gitignore` in repositories, and survives changes in between.',
    'sources/mail': 'Messages of mbox files and maildirs are entries of their own.',
    'sources/watch': 'Changes below a root are reported, also after it was gone, and at intervals if it can’t be watched.',
    'sources/clone': 'A cloned repository runs nothing, contains no links, and comes from permitted addresses only.',
    'sources/passages': 'A document is split at its structure; passages have the right length, lie at their places and miss nothing.',
    'sources/hostile': 'Damaged, empty and hostile files fail with the reason, or are split in linear time.',
  }),
];
