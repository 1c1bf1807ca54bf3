import { specifiedSection } from './requirement.ts';

/** The libraries without Node. */
export const memoryBrowser = [
  specifiedSection(
    'interface document 2, sections 2.5 and 4.4 to 4.7, in a browser; decisions, “`workspaceDir` is … a database name in a browser”',
    {
      'memory.browser/workspace':
        'A workspace is a database by its name: what is added to a long file does not write it again, and what could not be stored says so and changes nothing.',
      'memory.browser/tabs':
        'Several tabs and workers use one database at once and lose nothing; it can be deleted, and is left to a newer build.',
      'memory.browser/index': 'The index lies in `memory.db` within that database; a start reads only files that have changed.',
      'memory.browser/config': '`MemoryConfig.fromYaml` fetches an address, and names it with what does not fit.',
      'memory.browser/libraries':
        'All four libraries work as the interface document’s samples use them, with the classes and names that they have in Node, and find what they keep after a reload.',
      'memory.browser/realms':
        'They are imported in a page by an import map, through a bundler, in a dedicated worker and in a SharedWorker.',
      'memory.browser/built': 'What is built for browsers has nothing of Node in it, imports nothing from outside, and has types.',
    },
  ),
];
