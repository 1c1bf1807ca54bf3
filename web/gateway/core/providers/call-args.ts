import { parseJson } from '#shared/parse-json.ts';
import { z } from '#shared/rpc/zod.ts';
import { shorten } from './openai-errors.ts';
import { ProviderError } from './provider.ts';

const object = z.record(z.string(), z.unknown());

/** The arguments of a tool call from their JSON, which is empty where there are none. Throws `ProviderError`. */
export function callArgs(provider: string, tool: string, json: string): Record<string, unknown> {
  if (tool === '') throw new ProviderError(`${provider} asked for a tool without naming it`);
  let value: unknown;
  try {
    value = json.trim() === '' ? {} : parseJson(json);
  } catch (cause) {
    throw new ProviderError(`${provider} asked for the tool ${tool} with arguments that are not JSON: ${shorten(json, 80)}`, { cause });
  }
  const parsed = object.safeParse(value ?? {});
  if (!parsed.success) throw new ProviderError(`${provider} asked for the tool ${tool} with arguments that are no object`);
  return parsed.data;
}

/** An id for a call that came without one. */
export const newCallId = (): string => `call_${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}`;
