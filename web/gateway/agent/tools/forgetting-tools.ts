import { forgetQuery } from '#shared/rpc/methods/forgetting-contracts.ts';
import { z } from '#shared/rpc/zod.ts';
import { defineTool } from './define-tool.ts';
import type { Tool } from './tool-registry.ts';

/**
 * Tools for forgetting. A proposal is the call itself: the app searches for the words and shows what would go, and only a person forgets it
 * (docs/decisions/0157-memory-fit-and-proposed-forgetting.md). The result quotes nothing, because it would be another copy.
 */
export const forgettingTools = (): Tool[] => [
  defineTool({
    name: 'memory_propose_forgetting',
    title: 'Propose forgetting',
    summary: 'Asks you whether to forget everything about something.',
    description:
      'Proposes to forget everything with some words, wherever it is stored: memories, notes, summaries, wiki, chats. Deletes nothing: the user sees each text on a card and decides.',
    params: z.strictObject({ query: forgetQuery.describe('Words that are all in one line, such as a name') }),
    source: 'memory',
    scope: null,
    impact: 'reads',
    run: () => ({ proposed: true, deleted: 0, note: 'The user decides in the app. Until then nothing is deleted.' }),
  }),
];
