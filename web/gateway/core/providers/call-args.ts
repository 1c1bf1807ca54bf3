import { parseJson } from '#shared/parse-json.ts';
import { z } from '#shared/rpc/zod.ts';
import { shorten } from './openai-errors.ts';
import { type ModelEvent, type ModelRequest, ProviderError } from './provider.ts';

const object = z.record(z.string(), z.unknown());

/**
 * Parses the arguments of a call. `json` is empty if there are none and undefined if they were lost. Returns the reason if parsing fails.
 */
function readArgs(json: string | undefined): { args: Record<string, unknown> } | { why: string } {
  if (json === undefined) return { why: 'are missing' };
  let value: unknown;
  try {
    value = json.trim() === '' ? {} : parseJson(json);
  } catch {
    return { why: `are not valid JSON: ${shorten(json, 80)}` };
  }
  // Some servers encode the arguments twice.
  if (typeof value === 'string') return readArgs(value);
  const parsed = object.safeParse(value ?? {});
  return parsed.success ? { args: parsed.data } : { why: 'are not an object' };
}

/**
 * Parses a tool call of a model. `tells`: invalid arguments are reported with the call, so that the model can be told. Throws
 * `ProviderError` for invalid arguments otherwise, and for a call without a name.
 */
export function toolCall(
  provider: string,
  { id, tool, json }: { id: string; tool: string; json: string | undefined },
  tells: ModelRequest['tellsUnread'] = false,
): Extract<ModelEvent, { type: 'tool_call' }> {
  if (tool === '') throw new ProviderError(`${provider} sent a tool call without a name.`);
  const read = readArgs(json);
  if ('args' in read) return { type: 'tool_call', call: { id, tool, args: read.args } };
  if (!tells) throw new ProviderError(`${provider} sent a call of ${tool} with arguments that ${read.why}`);
  return { type: 'tool_call', call: { id, tool, args: {} }, unread: read.why };
}

/** Id for a call that the model sent without one. */
export const newCallId = (): string => `call_${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}`;
