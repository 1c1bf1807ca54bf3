import { truncateText } from '#shared/truncate-text.ts';
import { z } from '#shared/rpc/zod.ts';
import { ProviderError } from './provider.ts';

const requestSchema = z.strictObject({
  model: z.string(),
  input: z.custom<string | string[]>((value) => typeof (Array.isArray(value) ? value[0] : value) === 'string'),
  dimensions: z.number().int().min(1).nullish(),
  encoding_format: z.unknown().optional(),
  user: z.unknown().optional(),
});

const responseSchema = z.object({
  embeddings: z.array(z.object({ values: z.array(z.number()) })),
  usageMetadata: z.object({ promptTokenCount: z.number().nonnegative().nullish() }).nullish().catch(null),
});

/** Converts a body in the OpenAI format to one of `:batchEmbedContents`. Throws `ProviderError` for options that the API lacks. */
export function toGoogleEmbedBody(body: Record<string, unknown>, name: string): Record<string, unknown> {
  const parsed = requestSchema.safeParse(body);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue?.code === 'unrecognized_keys' ? issue.keys[0] : issue?.path[0];
    const param = truncateText(String(field));
    throw new ProviderError(`\`${param}\` is not supported by ${name}. Only \`input\` and \`dimensions\` are.`, { status: 400, param });
  }
  const { model, input, dimensions } = parsed.data;
  const texts = typeof input === 'string' ? [input] : input;
  return {
    requests: texts.map((text) => ({
      model: `models/${model.replace(/^models\//, '')}`,
      content: { parts: [{ text }] },
      ...(dimensions == null ? {} : { outputDimensionality: dimensions }),
    })),
  };
}

/** Converts the response to the OpenAI format; undefined if it is invalid. */
export function toOpenAiEmbeddings(value: unknown): unknown {
  const parsed = responseSchema.safeParse(value);
  if (!parsed.success) return undefined;
  const { embeddings, usageMetadata } = parsed.data;
  const tokens = usageMetadata?.promptTokenCount;
  return {
    data: embeddings.map(({ values }) => ({ embedding: values })),
    ...(tokens == null ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
  };
}
