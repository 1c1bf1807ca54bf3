import { RpcError } from '#shared/rpc/errors.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Clock } from '../clock.ts';
import { searchDocs } from '../guide/library.ts';
import { MessageSearch } from '../retrieval/message-search.ts';
import type { Vault } from '../vault.ts';
import { memoryTools } from './memory-tools.ts';
import { defineTool, type Tool } from './registry.ts';

/** Messages that a search looks through. */
const SEARCHED_MESSAGES = 2000;

const query = z.string().trim().min(1).max(1000).describe('Words to look for');
const limit = (most: number, usual: number) => z.number().int().min(1).max(most).default(usual).describe('Most results');

export interface CoreToolsDeps {
  vault: Pick<Vault, 'messages' | 'memories'>;
  clock: Clock;
}

/** The tools that every gateway has. */
export function coreTools({ vault, clock }: CoreToolsDeps): Tool[] {
  const messages = new MessageSearch();
  return [
    defineTool({
      name: 'docs_search',
      description: "Searches Perch's own documentation.",
      source: 'core',
      params: z.strictObject({ query, limit: limit(10, 3) }),
      async run(args) {
        const found = await searchDocs(args.query, args.limit);
        return { results: found.map(({ doc }) => ({ id: doc.id, title: doc.title, text: doc.text })) };
      },
    }),
    defineTool({
      name: 'session_search',
      description: 'Searches the recent messages of all chats.',
      source: 'core',
      params: z.strictObject({ query, limit: limit(20, 5) }),
      async run(args) {
        const found = messages.search(await vault.messages.recent(SEARCHED_MESSAGES), args.query, args.limit);
        return {
          results: found.map(({ doc }) => ({
            text: doc.text.slice(0, 1000),
            role: doc.role,
            session: doc.sessionKey,
            at: new Date(doc.timestamp).toISOString(),
            id: doc.id,
          })),
        };
      },
    }),
    defineTool({
      name: 'current_time',
      description: 'The current date and time.',
      source: 'core',
      params: z.strictObject({
        timeZone: z.string().max(100).optional().describe('An IANA name such as Europe/Berlin; the local one where left out'),
      }),
      run({ timeZone }) {
        const now = clock.now();
        try {
          const format = new Intl.DateTimeFormat('en-GB', {
            dateStyle: 'full',
            timeStyle: 'long',
            ...(timeZone === undefined ? {} : { timeZone }),
          });
          return { iso: new Date(now).toISOString(), unixMs: now, timeZone: format.resolvedOptions().timeZone, local: format.format(now) };
        } catch {
          throw new RpcError('INVALID_PARAMS', `There is no time zone "${timeZone ?? ''}"`);
        }
      },
    }),
    ...memoryTools({ memories: vault.memories, clock }),
  ];
}
