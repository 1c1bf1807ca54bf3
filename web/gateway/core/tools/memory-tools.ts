import { RpcError } from '#shared/rpc/errors.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Clock } from '../clock.ts';
import { Bm25 } from '../retrieval/bm25.ts';
import type { MemoryRecord, Vault } from '../vault.ts';
import { defineTool, type Tool } from './registry.ts';

/** Kinds of memories (decisions, "Memory, recall …"). */
const CATEGORIES = ['fact', 'preference', 'decision', 'task', 'event', 'other'] as const;

const MAX_TEXT = 10_000;

const shown = ({ id, text, category, createdAt }: MemoryRecord) => ({ id, text, category, createdAt: new Date(createdAt).toISOString() });

/** Tools over what is remembered. */
export function memoryTools({ memories, clock }: { memories: Vault['memories']; clock: Clock }): Tool[] {
  const make = (text: string, category: string): MemoryRecord => ({ id: crypto.randomUUID(), text, category, createdAt: clock.now() });
  // Changes that read first are made one after another, so that two calls at once do not both add.
  let tail: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = tail.then(work);
    tail = done.catch(() => {});
    return done;
  };

  return [
    defineTool({
      name: 'memory_search',
      description: 'Searches what was remembered.',
      source: 'memory',
      params: z.strictObject({
        query: z.string().trim().min(1).max(1000).describe('Words to look for'),
        limit: z.number().int().min(1).max(50).default(5).describe('Most results'),
      }),
      async run({ query, limit }) {
        const found = Bm25.of(await memories.list(), ({ text }) => text).search(query, limit);
        return { results: found.map(({ doc }) => shown(doc)) };
      },
    }),
    defineTool({
      name: 'memory_add',
      description: 'Remembers a fact. A text that is remembered already is not added again.',
      source: 'memory',
      params: z.strictObject({
        text: z.string().trim().min(1).max(MAX_TEXT).describe('What to remember, in one or two sentences'),
        category: z.enum(CATEGORIES).default('fact'),
      }),
      run: ({ text, category }) =>
        inTurn(async () => {
          const same = (await memories.list()).find((memory) => memory.text === text);
          const memory = same ?? make(text, category);
          if (!same) await memories.add(memory);
          return { ...shown(memory), added: !same };
        }),
    }),
    defineTool({
      name: 'memory_forget',
      description: 'Forgets one memory, by its id from memory_search.',
      source: 'memory',
      params: z.strictObject({ id: z.string().min(1).max(128).describe('Id of the memory') }),
      async run({ id }) {
        if (!(await memories.remove(id))) throw new RpcError('NOT_FOUND', `There is no memory with the id ${id}; memory_search gives ids`);
        return { forgotten: id };
      },
    }),
    defineTool({
      name: 'memory_stats',
      description: 'How much is remembered.',
      source: 'memory',
      params: z.strictObject({}),
      async run() {
        const all = await memories.list();
        const byCategory = new Map<string, number>();
        let [oldest, newest] = [Infinity, -Infinity];
        for (const { category, createdAt } of all) {
          byCategory.set(category, (byCategory.get(category) ?? 0) + 1);
          oldest = Math.min(oldest, createdAt);
          newest = Math.max(newest, createdAt);
        }
        return {
          count: all.length,
          byCategory: Object.fromEntries(byCategory),
          oldest: all.length > 0 ? new Date(oldest).toISOString() : null,
          newest: all.length > 0 ? new Date(newest).toISOString() : null,
        };
      },
    }),
    defineTool({
      name: 'memory_update_preference',
      description: "Remembers a preference of the person's, in place of an earlier one of the same name.",
      source: 'memory',
      params: z.strictObject({
        key: z
          .string()
          .trim()
          .min(1)
          .max(200)
          .regex(/^[^:\n]+$/, 'must be one line without a colon')
          .describe('What it is about, such as "tone"'),
        value: z.string().trim().min(1).max(MAX_TEXT).describe('What is preferred'),
      }),
      run: ({ key, value }) =>
        inTurn(async () => {
          const prefix = `${key.toLowerCase()}:`;
          const earlier = (await memories.list()).filter(
            (memory) => memory.category === 'preference' && memory.text.toLowerCase().startsWith(prefix),
          );
          const memory = make(`${key}: ${value}`, 'preference');
          // Added first: a failure in between leaves one too many, never none.
          await memories.add(memory);
          for (const { id } of earlier) await memories.remove(id);
          return { ...shown(memory), replaced: earlier.length };
        }),
    }),
  ];
}
