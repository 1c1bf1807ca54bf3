import { fromBase64, toBase64 } from '#shared/base64.ts';
import { z } from '#shared/rpc/zod.ts';
import type { ProviderState } from '../../../storage/records/provider-state.ts';

/**
 * Data that a provider sends with its calls and requires back, encoded for the client to carry if nothing is stored here. It contains no
 * secrets; data that comes back is validated against the formats' schemas.
 */
const stateSchema: z.ZodType<ProviderState> = z.discriminatedUnion('wire', [
  z.strictObject({
    wire: z.literal('anthropic'),
    value: z.array(
      z.discriminatedUnion('type', [
        z.strictObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
        z.strictObject({ type: z.literal('redacted_thinking'), data: z.string() }),
      ]),
    ),
  }),
  z.strictObject({
    wire: z.literal('google'),
    value: z.array(
      z.looseObject({
        text: z.string().nullish(),
        thought: z.boolean().nullish(),
        thoughtSignature: z.string().nullish(),
        functionCall: z.looseObject({ name: z.string() }).nullish(),
      }),
    ),
  }),
  z.strictObject({
    wire: z.literal('openai'),
    value: z.strictObject({ reasoning_content: z.string(), reasoning_details: z.array(z.record(z.string(), z.unknown())) }).partial(),
  }),
]);

/** Undefined if the data could not be unsealed again. */
export const sealState = (providerState: ProviderState): string | undefined =>
  stateSchema.safeParse(providerState).success ? toBase64(new TextEncoder().encode(JSON.stringify(providerState))) : undefined;

/** Undefined if the text was not sealed here. */
export function unsealState(text: string): ProviderState | undefined {
  try {
    return stateSchema.parse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(fromBase64(text))));
  } catch {
    return undefined;
  }
}
