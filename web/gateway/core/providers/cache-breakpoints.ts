import { plainText } from './parts.ts';
import type { CacheLifetime, ModelMessage, ModelRequest } from './provider.ts';

/** Positions in a prompt up to which the provider should cache it. */
export interface CacheBreakpoints {
  tools: boolean;
  system: CacheLifetime | undefined;
  messages: ReadonlyMap<ModelMessage, CacheLifetime>;
}

export const NO_BREAKPOINTS: CacheBreakpoints = { tools: false, system: undefined, messages: new Map() };

/** Maximum number of breakpoints in a request to Anthropic and compatible servers. */
const MAX_BREAKPOINTS = 4;
/** Minimum length, in tokens, of a cacheable prompt, by model; breakpoints in shorter prompts are ignored. */
const MINIMUMS: readonly (readonly [model: RegExp, tokens: number])[] = [
  [/claude-(opus-4[-.][56]|haiku-4[-.]5)(?!\d)/, 4096],
  [/claude-(opus-4[-.]7(?!\d)|3[-.]5-haiku|3-haiku)/, 2048],
  [/claude-(opus|fable|mythos)-5/, 512],
];
const MINIMUM = 1024;

/**
 * Chooses breakpoints for a provider that caches on request. Writing costs more than plain input, so only parts that are likely to be sent
 * again are marked: tools and system message of a request with tools, and messages of an ongoing conversation (one with a `cacheKey`, or
 * with a reply in it). If an API client has set breakpoints, only those are used.
 */
export function chooseBreakpoints(request: ModelRequest): CacheBreakpoints {
  const { messages, tools = [], spentTools = [], cacheKey } = request;
  const start = firstCacheable(request);
  const marked = messages.filter(({ cacheBreakpoint }) => cacheBreakpoint);
  const lifetimes = (list: readonly ModelMessage[]): CacheBreakpoints['messages'] =>
    new Map(list.map((message) => [message, message.cacheBreakpoint ?? '5m']));
  if (cacheKey === undefined && marked.length > 0) {
    const system = marked.findLast(({ role }) => role === 'system')?.cacheBreakpoint;
    const own = marked.filter(({ role }) => role !== 'system');
    return { tools: false, system, messages: lifetimes(own.slice(system ? 1 - MAX_BREAKPOINTS : -MAX_BREAKPOINTS)) };
  }
  const answered = messages.findLastIndex(({ role }) => role === 'assistant');
  const isOngoing = cacheKey !== undefined || answered >= 0;
  const hasTools = tools.length + spentTools.length > 0;
  if (!isOngoing && !hasTools) return NO_BREAKPOINTS;
  const hasSystem = messages.some(({ role }) => role === 'system');
  const found = {
    tools: hasTools && start === 'tools',
    system: hasSystem && (start === 'tools' || start === 'system') ? ('5m' as const) : undefined,
  };
  if (!isOngoing) return { ...found, messages: new Map() };
  const isInput = ({ role }: ModelMessage): boolean => role === 'user' || role === 'tool';
  const candidates = [
    messages.findLastIndex(isInput),
    // Summary of the conversation's earlier part.
    messages.findLastIndex(({ role, cacheBreakpoint }) => cacheBreakpoint && role !== 'system'),
    // End of the previous request: providers look back only about 20 blocks for an entry, and a step with many calls has more.
    messages.findLastIndex((message, at) => at < answered && isInput(message)),
  ];
  const from = typeof start === 'number' ? start : 0;
  const free = MAX_BREAKPOINTS - Number(found.tools) - Number(found.system !== undefined);
  const chosen = [...new Set(candidates)].filter((at) => at >= from).slice(0, free);
  return { ...found, messages: lifetimes(chosen.flatMap((at) => messages[at] ?? [])) };
}

/**
 * First position where a prompt is long enough to be cached: the tools, the system message, or the index of a message. A token has at least
 * one character.
 */
function firstCacheable({ model, messages, tools = [], spentTools = [] }: ModelRequest): 'tools' | 'system' | number {
  const minimum = MINIMUMS.find(([pattern]) => pattern.test(model))?.[1] ?? MINIMUM;
  let length = JSON.stringify([...tools, ...spentTools]).length;
  if (length >= minimum) return 'tools';
  for (const { role, content } of messages) if (role === 'system') length += plainText(content).length;
  if (length >= minimum) return 'system';
  for (const [at, { role, content, toolCalls }] of messages.entries()) {
    if (role === 'system') continue;
    length += lengthOf(content) + (toolCalls ? JSON.stringify(toolCalls).length : 0);
    if (length >= minimum) return at;
  }
  return messages.length;
}

const lengthOf = (content: ModelMessage['content']): number =>
  typeof content === 'string'
    ? content.length
    : content.reduce((sum, part) => sum + (part.type === 'text' ? part.text : part.data).length, 0);

/** The field that marks a block as the end of a cached prompt. */
export const cacheControl = (lifetime: CacheLifetime): Record<string, unknown> => ({
  cache_control: { type: 'ephemeral', ...(lifetime === '1h' ? { ttl: lifetime } : {}) },
});

/** The list with a breakpoint on its last element. */
export function markLast<T extends object>(list: readonly T[], lifetime: CacheLifetime | undefined): T[] {
  const last = list.at(-1);
  return last && lifetime ? [...list.slice(0, -1), { ...last, ...cacheControl(lifetime) }] : [...list];
}

/** A body without its breakpoints, for servers that refuse them; undefined if it has none. */
export function withoutBreakpoints(body: Record<string, unknown>): Record<string, unknown> | undefined {
  let found = false;
  const unmarked = (value: unknown): unknown => {
    if (!Array.isArray(value)) return value;
    return value.map((each: unknown) => {
      if (typeof each !== 'object' || each === null) return each;
      const { cache_control, ...rest } = { cache_control: undefined, ...each };
      found ||= cache_control !== undefined;
      return 'content' in rest ? { ...rest, content: unmarked(rest.content) } : rest;
    });
  };
  const rest = Object.fromEntries(
    Object.entries(body).map(([key, value]) => [key, ['tools', 'system', 'messages'].includes(key) ? unmarked(value) : value]),
  );
  return found ? rest : undefined;
}
