import { parseJson } from '#shared/parse-json.ts';
import { z } from '#shared/rpc/zod.ts';
import { TOOL_SEARCH } from '../storage/records/routed-call.ts';
import type { ModelMessage, ModelRequest, ToolSpec } from './provider.ts';

/**
 * Tools that the API loads when a result refers to them: `defer_loading` and `tool_reference`
 * (https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool, "Custom tool search implementation"). They are part of
 * the request but not of the cached prompt, so changing them keeps the cache valid.
 */

/** Models from version 4.5. */
const DEFERRAL_MODELS = /^claude-([a-z]+-([5-9]|\d{2,})|[a-z]+-4[-.]([5-9]|\d{2})(?!\d))/;
/** Matches errors of servers that do not support them. */
const DEFERRAL_ERROR = /defer_loading|tool_reference/;

type JsonObject = Record<string, unknown>;

const searchResult = z.object({
  tools: z.array(z.object({ name: z.string(), description: z.string(), parameters: z.record(z.string(), z.unknown()).optional() })),
});

/** The request without its deferred tools if the server or the model does not support them. */
export function withDeferral(request: ModelRequest, baseUrl: string): ModelRequest {
  const supportsDeferral = DEFERRAL_MODELS.test(request.model) && URL.parse(baseUrl)?.hostname === 'api.anthropic.com';
  return supportsDeferral ? request : { ...request, deferredTools: undefined };
}

/** Tools in a result of `tool_search`. */
function readFoundTools({ role, name, content }: ModelMessage): z.infer<typeof searchResult>['tools'] {
  if (role !== 'tool' || name !== TOOL_SEARCH || typeof content !== 'string') return [];
  try {
    return searchResult.parse(parseJson(content)).tools;
  } catch {
    // An error message, not JSON.
    return [];
  }
}

/**
 * Deferred tools of a request. A tool that was found but no longer exists stays in the list: a result in the conversation still refers to
 * it.
 */
export function getDeferredTools({ deferredTools: deferred, tools = [], messages }: ModelRequest): ToolSpec[] {
  if (!deferred) return [];
  const all = new Map(deferred.map((tool) => [tool.name, tool]));
  for (const { name, description, parameters } of messages.flatMap(readFoundTools))
    if (parameters && !all.has(name)) all.set(name, { name, description, schema: parameters });
  for (const { name } of tools) all.delete(name);
  return [...all.values()];
}

/** Converts a result of `tool_search` to references to the tools found; undefined for other messages. */
export function toToolReferences(message: ModelMessage, { deferredTools: deferred, tools = [] }: ModelRequest): JsonObject[] | undefined {
  if (!deferred) return undefined;
  const directNames = new Set(tools.map(({ name }) => name));
  const found = readFoundTools(message).filter(({ name, parameters }) => parameters && !directNames.has(name));
  return found.length > 0 ? found.map(({ name }) => ({ type: 'tool_reference', tool_name: name })) : undefined;
}

const isDeferred = (tool: unknown): boolean => typeof tool === 'object' && tool !== null && 'defer_loading' in tool;

/** The body without deferred tools if the refusal is about them; its messages still refer to them. */
export function withoutDeferral(body: JsonObject, refusal: string): JsonObject | undefined {
  const tools: unknown = body['tools'];
  if (!DEFERRAL_ERROR.test(refusal) || !Array.isArray(tools) || !tools.some(isDeferred)) return undefined;
  return { ...body, tools: tools.filter((tool) => !isDeferred(tool)) };
}
