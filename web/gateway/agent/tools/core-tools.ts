import { RpcError } from '#shared/rpc/rpc-error.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Clock } from '#shared/async/clock.ts';
import { isSearchable } from '../knowledge/recall/message-search.ts';
import { toPlainText } from '../../storage/session-views.ts';
import { searchDocs } from '../guide/doc-search.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { forgettingTools } from './forgetting-tools.ts';
import { memoryTools, type MemoryToolsDeps } from './memory-tools.ts';
import { getMessageSources } from '../trust/content-sources.ts';
import { defineTool } from './define-tool.ts';
import type { Tool } from './tool-registry.ts';

/** Maximum number of characters of a message in a result. */
const MAX_MESSAGE_CHARS = 1000;

const query = z.string().trim().min(1).max(1000).describe('Search terms');
const limit = (max: number, defaultLimit: number) => z.number().int().min(1).max(max).default(defaultLimit).describe('Maximum results');

interface CoreToolsDeps extends Omit<MemoryToolsDeps, 'messages'> {
  vault: { search: Pick<Vault['search'], 'sessions' | 'messages'>; messages: Pick<Vault['messages'], 'get' | 'branch'> };
  clock: Clock;
  /** The configured time zone. */
  timeZone(): string;
}

/** Tools that every gateway has. */
export function coreTools({ vault, clock, timeZone: configured, ...deps }: CoreToolsDeps): Tool[] {
  return [
    defineTool({
      name: 'docs_search',
      title: 'Search Perch docs',
      summary: 'Searches Perch’s documentation.',
      description: 'Searches the documentation of Perch, the app you run in.',
      source: 'core',
      scope: null,
      params: z.strictObject({ query, limit: limit(10, 3) }),
      impact: 'reads',
      async run(args) {
        const found = await searchDocs(args.query, args.limit);
        return { results: found.map(({ doc }) => ({ id: doc.id, title: doc.title, text: doc.text })) };
      },
    }),
    defineTool({
      name: 'session_search',
      title: 'Search chats',
      summary: 'Searches the messages of all chats.',
      description: 'Searches the messages of all chats by words and "exact phrases".',
      source: 'core',
      scope: 'sessions',
      params: z.strictObject({
        query,
        limit: limit(20, 5),
        unreviewed: z.boolean().default(false).describe('Also messages written after reading from outside'),
      }),
      impact: 'reads',
      async run(args, { taint }) {
        // Reading these messages would taint the run.
        const isHiding = !args.unreviewed && taint?.isTainted === false;
        const find = async (need: 'all' | 'any') =>
          (await vault.search.messages(args.query, { limit: args.limit * 4, need })).filter(
            ({ message }) => isSearchable(message) && !(isHiding && getMessageSources(message).length > 0),
          );
        const all = await find('all');
        // Models search with sentences: messages with some of the words are better than none.
        const found = (all.length > 0 ? all : await find('any')).slice(0, args.limit);
        taint?.add(found.flatMap(({ message }) => getMessageSources(message)));
        return {
          results: found.map(({ message: { id, role, sessionKey, timestamp, content } }) => ({
            text: toPlainText(content).slice(0, MAX_MESSAGE_CHARS),
            role,
            session: sessionKey,
            at: new Date(timestamp).toISOString(),
            id,
          })),
        };
      },
    }),
    defineTool({
      name: 'current_time',
      title: 'Get current time',
      summary: 'Returns the current date and time.',
      description: 'Tells the date and time, in any time zone.',
      source: 'core',
      scope: null,
      params: z.strictObject({
        timeZone: z.string().max(100).optional().describe('Such as Europe/Berlin. Default: the configured one'),
      }),
      impact: 'reads',
      run({ timeZone = configured() }) {
        const now = clock.now();
        try {
          const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'long', timeZone });
          return { iso: new Date(now).toISOString(), unixMs: now, timeZone: format.resolvedOptions().timeZone, local: format.format(now) };
        } catch {
          throw new RpcError('INVALID_PARAMS', `Unknown time zone "${timeZone}".`);
        }
      },
    }),
    ...memoryTools({ ...deps, messages: vault.messages }),
    ...forgettingTools(),
  ];
}
