import { parseJson } from '#shared/parse-json.ts';
import { z } from '#shared/rpc/zod.ts';
import { shorten } from './upstream-errors.ts';
import { type ModelEvent, type ModelRequest, ProviderError } from './provider.ts';

const argsSchema = z.record(z.string(), z.unknown());

/**
 * Parses the arguments of a call. `json` is empty if there are none and undefined if they were lost. Returns the reason if parsing fails.
 */
function parseArgs(json: string | undefined): { args: Record<string, unknown> } | { reason: string } {
  if (json === undefined) return { reason: 'are missing' };
  let value: unknown;
  try {
    value = json.trim() === '' ? {} : parseJson(json);
  } catch {
    return { reason: `are not valid JSON: ${shorten(json, 80)}` };
  }
  // Some servers encode the arguments twice.
  if (typeof value === 'string') return parseArgs(value);
  const parsed = argsSchema.safeParse(value ?? {});
  return parsed.success ? { args: parsed.data } : { reason: 'are not an object' };
}

/**
 * Parses a tool call of a model. `reportsUnread`: invalid arguments are reported with the call, so that the model can be told. Throws
 * `ProviderError` for invalid arguments otherwise, and for a call without a name.
 */
export function parseToolCall(
  provider: string,
  { id, tool, json }: { id: string; tool: string; json: string | undefined },
  reportsUnread: ModelRequest['reportsUnread'] = false,
): Extract<ModelEvent, { type: 'tool_call' }> {
  if (tool === '') throw new ProviderError(`${provider} sent a tool call without a name.`);
  const parsedArgs = parseArgs(json);
  if ('args' in parsedArgs) return { type: 'tool_call', call: { id, tool, args: parsedArgs.args } };
  if (!reportsUnread) throw new ProviderError(`${provider} sent a call of ${tool} with arguments that ${parsedArgs.reason}`);
  return { type: 'tool_call', call: { id, tool, args: {} }, unread: parsedArgs.reason };
}

/** Id for a call that the model sent without one. */
export const createCallId = (): string => `call_${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}`;
