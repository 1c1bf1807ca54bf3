import { estimateTokens } from '#shared/estimate-tokens.ts';
import { fromBase64, toBase64 } from '#shared/base64.ts';
import type { Usage } from '#shared/rpc/records.ts';
import { z } from '#shared/rpc/zod.ts';
import { readUsage } from '#shared/http/upstream-usage.ts';
import { canEmbed } from '../providers/embedding.ts';
import { ProviderError } from '../providers/provider.ts';
import { readJson } from './body.ts';
import { forCaller } from './caller.ts';
import { parse } from './chat-request.ts';
import type { HttpDeps } from './deps.ts';
import { badRequest } from './errors.ts';
import { agentOf, routeOf } from './target.ts';

const token = z.number().int().nonnegative();
const request = z.looseObject({
  model: z.string().min(1).max(300),
  input: z.union(
    [z.string().min(1), z.array(z.string()).min(1), z.array(token).min(1), z.array(z.array(token).min(1)).min(1)],
    'must be text, a list of texts, or tokens',
  ),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.number().int().min(1).nullish(),
  user: z.string().nullish(),
});

const answer = z.looseObject({
  data: z.array(z.looseObject({ embedding: z.union([z.string(), z.array(z.number())]) })),
  usage: z.unknown().optional(),
});

/** `POST /v1/embeddings` (decisions, "HTTP"). Throws what `toHttpError` explains. */
export function answerEmbeddings(asked: Request, principal: string, deps: HttpDeps): Promise<Response> {
  return forCaller(asked, async ({ abort, settled }) => {
    const body = parse(request, await readJson(asked));
    if (agentOf(body.model, deps) !== undefined) throw badRequest('model: an agent makes no embeddings', 'model');
    const { provider, model, key } = await routeOf(body.model, abort.signal, deps);
    if (!canEmbed(provider)) throw badRequest(`model: ${provider.name} makes no embeddings`, 'model');
    const parsed = answer.safeParse(await provider.embed({ ...body, model }, abort.signal));
    settled();
    const unreadable = new ProviderError(`${provider.name} sent no embeddings that can be read`);
    if (!parsed.success) throw unreadable;
    const usage = readUsage(parsed.data.usage) ?? guess(body.input);
    const wanted = body.encoding_format ?? 'float';
    const data = parsed.data.data.map((each, index) => {
      const embedding = encoded(each.embedding, wanted);
      if (embedding === undefined) throw unreadable;
      return { object: 'embedding', index, ...each, embedding };
    });
    deps.record?.({ at: deps.clock.now(), provider: provider.id, model: key, principal, usage });
    return Response.json({
      object: 'list',
      model: body.model,
      ...parsed.data,
      data,
      usage: { prompt_tokens: usage.inputTokens, total_tokens: usage.totalTokens },
    });
  });
}

/** In the form that was asked for: not every server heeds it. Undefined where it cannot be read. */
function encoded(vector: string | number[], wanted: 'float' | 'base64'): string | number[] | undefined {
  if (typeof vector !== 'string') return wanted === 'base64' ? toBase64(new Uint8Array(new Float32Array(vector).buffer)) : vector;
  if (wanted === 'base64') return vector;
  try {
    return [...new Float32Array(fromBase64(vector).buffer)];
  } catch {
    return undefined;
  }
}

function guess(input: z.output<typeof request>['input']): Usage {
  const count = (value: string | number | number[]): number =>
    typeof value === 'string' ? estimateTokens(value) : typeof value === 'number' ? 1 : value.length;
  const inputTokens = typeof input === 'string' ? count(input) : input.map(count).reduce((sum, each) => sum + each, 0);
  return { inputTokens, outputTokens: 0, totalTokens: inputTokens, estimated: true };
}
