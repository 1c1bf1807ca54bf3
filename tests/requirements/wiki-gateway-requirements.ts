import { chosenSection } from './requirement.ts';

/** The wiki in the gateway, for its clients, its agents, and at `/mcp`. */
export const wikiGateway = [
  chosenSection('issue "Memory, active recall, wiki and dreaming"', {
    'wiki.rpc/pages':
      'Pages are listed, read with links and backlinks, saved over the version that was seen alone, and removed; what is broken in them is told.',
    'wiki.rpc/changed': 'Whoever looks at a wiki is told of changes, and sees what was written by other ways.',
    'wiki.rpc/claims':
      'Claims are added, filtered, changed, superseded, refuted, deleted, restored, exported and imported, each with its history.',
    'wiki.rpc/contradictions': 'Contradictions of a claim and of a wiki are told with reasons, in the graph too.',
    'wiki.rpc/agents': 'Each workspace has a wiki of its own, in its folder wiki.',
    'wiki.tools/agents':
      'Agents search, read and write pages, and claim with evidence, supersede, refute and find contradictions; to change what a page says they need a person.',
    'mcp-server/wiki': 'A client at /mcp has the wiki’s tools, and its pages as resources.',
    'wiki.app/page':
      'A page of the app reads and writes the wiki, its claims and contradictions, tells of its health, and shows it as a graph.',
    'wiki.app/drafts':
      'What was typed of a page and not saved is kept in the browser, is found again, and tells where the page was changed meanwhile.',
    'wiki.app/import-products':
      'Notes of Obsidian, Notion and Logseq come with their pictures, from a folder or a zip, and their links lead to the same pages.',
    'wiki.app/import':
      'The page Wiki reads in Markdown files, folders and exported claims: it shows before what would be written, keeps what is here unless asked, and takes it back.',
  }),
];
