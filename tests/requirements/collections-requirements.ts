import { chosenSection } from './requirement.ts';

/** Collections of documents. */
export const collections = [
  chosenSection('decisions, "Collections"', {
    'collections/index': 'Files become passages with their places, and are found by their words and those of their title.',
    'collections/drawn-page': 'A page of a PDF is drawn as in the file, with the quote marked.',
    'collections/originals': 'The file itself can be kept in the vault, or only its text.',
    'collections/changes': 'A changed file is indexed alone; what was removed is not found any more.',
    'collections/failures': 'A file that cannot be read says why in a sentence, and the others are indexed.',
    'collections/restart': 'Indexing goes on after a restart, and the index is not made again.',
    'collections/cancel': 'Indexing can be cancelled, and continued by a refresh.',
    'collections/limits': 'Files and collections that are too large, and files without a proper name, are refused with a sentence.',
    'collections/delete': 'A deleted collection leaves nothing in storage.',
    'collections/replica': 'Another host makes its own index from what was synced, and forgets what was removed.',
    'collections/folders': 'A folder is followed through the bridge, and indexing waits for the bridge if it is away.',
    'collections/web': 'Web pages are followed on the same site up to a depth; pages that nothing links to any more are removed.',
    'collections/robots': 'Links that a site’s robots.txt or a page’s robots tag forbids are not followed, and how many is noted.',
    'collections/rights': 'Only people add what is on the bridge’s disk; web pages need the scope `web`.',
    'collections/attached': 'An agent is offered and searches only the collections attached to it or to its chat.',
    'collections/outside': 'What an agent reads in a collection counts as content from outside.',
    'cli.collections/row': '`perch collections` creates, lists, fills, searches and removes collections.',
    'collections/meaning': 'With an embedding model, passages are found by meaning too; without a working one, by words.',
  }),
];
