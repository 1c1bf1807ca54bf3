import { toPlainText } from './content-parts.ts';
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
const MIN_TOKENS_BY_MODEL: readonly (readonly [model: RegExp, tokens: number])[] = [
  [/claude-(opus-4[-.][56]|haiku-4[-.]5)(?!\d)/, 4096],
  [/claude-(opus-4[-.]7(?!\d)|3[-.]5-haiku|3-haiku)/, 2048],
  [/claude-(opus|fable|mythos)-5/, 512],
];
const DEFAULT_MIN_TOKENS = 1024;

/**
 * Chooses breakpoints for a provider that caches on request. Writing costs more than plain input, so only parts that are likely to be sent
 * again are marked: tools and system message of a request with tools, and messages of an ongoing conversation (one with a `cacheKey`, or
 * with a reply in it). If an API client has set breakpoints, only those are used.
 */
export function chooseBreakpoints(request: ModelRequest): CacheBreakpoints {
  const { messages, tools = [], spentTools = [], cacheKey } = request;
  const start = findFirstCacheable(request);
  const markedMessages = messages.filter(({ cacheBreakpoint }) => cacheBreakpoint);
  const lifetimes = (list: readonly ModelMessage[]): CacheBreakpoints['messages'] =>
    new Map(list.map((message) => [message, message.cacheBreakpoint ?? '5m']));
  if (cacheKey === undefined && markedMessages.length > 0) {
    const system = markedMessages.findLast(({ role }) => role === 'system')?.cacheBreakpoint;
    const markedTurns = markedMessages.filter(({ role }) => role !== 'system');
    return { tools: false, system, messages: lifetimes(markedTurns.slice(system ? 1 - MAX_BREAKPOINTS : -MAX_BREAKPOINTS)) };
  }
  const lastAnswerIndex = messages.findLastIndex(({ role }) => role === 'assistant');
  const isOngoing = cacheKey !== undefined || lastAnswerIndex >= 0;
  const hasTools = tools.length + spentTools.length > 0;
  if (!isOngoing && !hasTools) return NO_BREAKPOINTS;
  const hasSystem = messages.some(({ role }) => role === 'system');
  const breakpoints = {
    tools: hasTools && start === 'tools',
    system: hasSystem && (start === 'tools' || start === 'system') ? ('5m' as const) : undefined,
  };
  if (!isOngoing) return { ...breakpoints, messages: new Map() };
  const isInput = ({ role }: ModelMessage): boolean => role === 'user' || role === 'tool';
  const candidates = [
    messages.findLastIndex(isInput),
    // Summary of the conversation's earlier part.
    messages.findLastIndex(({ role, cacheBreakpoint }) => cacheBreakpoint && role !== 'system'),
    // End of the previous request: providers look back only about 20 blocks for an entry, and a step with many calls has more.
    messages.findLastIndex((message, index) => index < lastAnswerIndex && isInput(message)),
  ];
  const from = typeof start === 'number' ? start : 0;
  const remaining = MAX_BREAKPOINTS - Number(breakpoints.tools) - Number(breakpoints.system !== undefined);
  const indexes = [...new Set(candidates)].filter((index) => index >= from).slice(0, remaining);
  return { ...breakpoints, messages: lifetimes(indexes.flatMap((at) => messages[at] ?? [])) };
}

/**
 * First position where a prompt is long enough to be cached: the tools, the system message, or the index of a message. A token has at least
 * one character.
 */
function findFirstCacheable({ model, messages, tools = [], spentTools = [] }: ModelRequest): 'tools' | 'system' | number {
  const minTokens = MIN_TOKENS_BY_MODEL.find(([pattern]) => pattern.test(model))?.[1] ?? DEFAULT_MIN_TOKENS;
  let length = JSON.stringify([...tools, ...spentTools]).length;
  if (length >= minTokens) return 'tools';
  for (const { role, content } of messages) if (role === 'system') length += toPlainText(content).length;
  if (length >= minTokens) return 'system';
  for (const [index, { role, content, toolCalls }] of messages.entries()) {
    if (role === 'system') continue;
    length += getLength(content) + (toolCalls ? JSON.stringify(toolCalls).length : 0);
    if (length >= minTokens) return index;
  }
  return messages.length;
}

const getLength = (content: ModelMessage['content']): number =>
  typeof content === 'string'
    ? content.length
    : content.reduce((sum, part) => sum + (part.type === 'text' ? part.text : part.data).length, 0);

/** The field that marks a block as the end of a cached prompt. */
export const toCacheControl = (lifetime: CacheLifetime): Record<string, unknown> => ({
  cache_control: { type: 'ephemeral', ...(lifetime === '1h' ? { ttl: lifetime } : {}) },
});

/** The list with a breakpoint on its last element. */
export function markLast<T extends object>(list: readonly T[], lifetime: CacheLifetime | undefined): T[] {
  const last = list.at(-1);
  return last && lifetime ? [...list.slice(0, -1), { ...last, ...toCacheControl(lifetime) }] : [...list];
}

/** A body without its breakpoints, for servers that refuse them; undefined if it has none. */
export function withoutBreakpoints(body: Record<string, unknown>): Record<string, unknown> | undefined {
  let found = false;
  const removeMarks = (value: unknown): unknown => {
    if (!Array.isArray(value)) return value;
    return value.map((item: unknown) => {
      if (typeof item !== 'object' || item === null) return item;
      const { cache_control, ...rest } = { cache_control: undefined, ...item };
      found ||= cache_control !== undefined;
      return 'content' in rest ? { ...rest, content: removeMarks(rest.content) } : rest;
    });
  };
  const rest = Object.fromEntries(
    Object.entries(body).map(([key, value]) => [key, ['tools', 'system', 'messages'].includes(key) ? removeMarks(value) : value]),
  );
  return found ? rest : undefined;
}
