import { toBase64 } from '#shared/base64.ts';
import { SSE_HEADERS } from '#shared/http/sse.ts';
import type { Part, Usage } from '#shared/rpc/records.ts';
import { z } from '#shared/rpc/zod.ts';
import { estimateUsage } from '../../providers/estimate.ts';
import { ProviderError } from '../../providers/provider.ts';
import type { Route } from '../../providers/providers.ts';
import { canDraw, type DrawingProvider } from '../../providers/relaying.ts';
import { sumUsage } from '../../providers/usage.ts';
import { readJson } from '../body.ts';
import { bodyOf, type Caller, forCaller } from '../caller.ts';
import type { ChatDeps } from '../chat.ts';
import { badRequest } from '../errors.ts';
import { IgnoredFields } from '../ignored-fields.ts';
import { parse } from '../parse.ts';
import { findMediaRoute, forTask, IMAGES, requireRelay } from './routes.ts';
import { isEventStream, passEvents, readJsonAnswer, readMediaUsage } from './relayed.ts';
import { formBoolean, formNumber, readForm, toFields, upload, withModel } from './upload.ts';

/** Default model. */
const USUAL_MODEL = 'gpt-image-1';
const MAX_IMAGES = 10;

const shared = {
  model: z.string().min(1).max(300).nullish(),
  prompt: z.string().min(1).max(32_000),
  size: z.string().max(40).nullish(),
  quality: z.string().max(40).nullish(),
  background: z.string().max(40).nullish(),
  output_format: z.string().max(40).nullish(),
  response_format: z.enum(['url', 'b64_json']).nullish(),
  user: z.string().max(1000).nullish(),
};

/** Other fields go to the provider unchanged. */
export const imageRequest = z.looseObject({
  ...shared,
  n: z.number().int().min(1).max(MAX_IMAGES).nullish(),
  stream: z.boolean().nullish(),
});

export const imageEditRequest = z.looseObject({
  ...shared,
  image: z.union([upload, z.array(upload).min(1).max(16)], 'must be a file that is not empty'),
  mask: upload.optional(),
  n: formNumber(1, MAX_IMAGES).optional(),
  stream: formBoolean.optional(),
});

type ImageFields = Pick<z.output<typeof imageRequest>, keyof typeof shared | 'n' | 'stream'> & Record<string, unknown>;

interface Call {
  fields: ImageFields;
  principal: string;
  caller: Caller;
}

/** `POST /v1/images/generations`. Throws errors that `toHttpError` explains. */
export function answerImages(request: Request, principal: string, deps: ChatDeps): Promise<Response> {
  return forCaller(request, async (caller) => {
    const fields = parse(imageRequest, await readJson(request));
    const route = await findImageRoute(fields, caller, deps);
    const call = { fields, principal, caller };
    const { provider } = route;
    if (canDraw(provider)) return forTask(IMAGES, () => draw(call, route, provider, [], deps));
    return passOn(call, route, { path: '/images/generations', body: { ...fields, model: route.model } }, deps);
  });
}

/** `POST /v1/images/edits`. Throws errors that `toHttpError` explains. */
export function answerImageEdits(request: Request, principal: string, deps: ChatDeps): Promise<Response> {
  return forCaller(request, async (caller) => {
    const form = await readForm(request);
    const fields = parse(imageEditRequest, toFields(form));
    const route = await findImageRoute(fields, caller, deps);
    const call = { fields, principal, caller };
    const { provider } = route;
    if (!canDraw(provider)) return passOn(call, route, { path: '/images/edits', body: withModel(form, route.model) }, deps);
    if (fields.mask) throw badRequest(`\`mask\` is not supported by ${provider.name}. Describe the area in \`prompt\`.`, 'mask');
    const images = await Promise.all([fields.image].flat().map(toPart));
    return forTask(IMAGES, () => draw(call, route, provider, images, deps));
  });
}

const findImageRoute = ({ model }: ImageFields, { abort }: Caller, deps: ChatDeps): Promise<Route> =>
  findMediaRoute(model ?? USUAL_MODEL, IMAGES, abort.signal, deps);

const toPart = async (file: File): Promise<Part> => ({
  type: 'image',
  mimeType: file.type.startsWith('image/') ? file.type : 'image/png',
  data: toBase64(new Uint8Array(await file.arrayBuffer())),
});

async function passOn(
  { fields, principal, caller }: Call,
  { provider, key }: Route,
  { path, body }: { path: string; body: object | FormData },
  deps: ChatDeps,
): Promise<Response> {
  const { signal } = caller.abort;
  const relayed = await forTask(IMAGES, () =>
    requireRelay(provider, IMAGES).relay(path, body, signal, { streamed: fields.stream === true }),
  );
  const record = (told: Usage | undefined): void =>
    deps.record?.({
      ...{ at: deps.clock.now(), provider: provider.id, model: key, principal },
      usage: told ?? estimateUsage([{ role: 'user', content: fields.prompt }], '', key),
    });
  if (isEventStream(relayed)) {
    const events = passEvents(relayed, { provider: provider.name, record, explain: deps.explain, signal, textOf: () => '', done: false });
    return new Response(bodyOf(events, caller, await events.next()), { headers: SSE_HEADERS });
  }
  const { text, value } = await readJsonAnswer(provider.name, relayed);
  caller.settled();
  record(readMediaUsage(value));
  return new Response(text, { headers: { 'content-type': 'application/json' } });
}

interface Picture {
  mimeType: string;
  data: string;
}

/** Asks a model that can reply with images, once per image. */
async function draw(
  { fields, principal, caller }: Call,
  { model, key }: Route,
  provider: DrawingProvider,
  images: Part[],
  deps: ChatDeps,
): Promise<Response> {
  const { prompt, n, stream, response_format: form } = fields;
  if (stream === true) throw badRequest(`\`stream\` is not supported for images of ${provider.name}.`, 'stream');
  const ignored = new IgnoredFields();
  const known = new Set(['model', 'prompt', 'n', 'stream', 'response_format', 'user', 'image', 'mask']);
  for (const [name, value] of Object.entries(fields)) if (value != null && value !== 'auto' && !known.has(name)) ignored.add(name);
  const content: Part[] = [...images, { type: 'text', text: prompt }];
  const failed = new AbortController();
  const signal = AbortSignal.any([caller.abort.signal, failed.signal]);
  let usage: Usage | undefined;
  const one = async (): Promise<Picture> => {
    let picture: Picture | undefined;
    let text = '';
    let told: Usage | undefined;
    for await (const event of provider.draw(model, content, signal)) {
      if (event.type === 'picture') picture ??= event.picture;
      else if (event.type === 'text' || event.type === 'refusal') text += event.text;
      else if (event.type === 'usage') told = event.usage;
    }
    told ??= estimateUsage([{ role: 'user', content }], text, key);
    usage = usage ? sumUsage(usage, told) : told;
    if (picture) return picture;
    const said = text.trim().slice(0, 300);
    throw new ProviderError(`${provider.name} returned no image${said === '' ? '. Choose a model that creates images.' : `: ${said}`}`);
  };
  try {
    const pictures = await Promise.all(
      Array.from({ length: n ?? 1 }, () => one().catch((error: unknown) => Promise.reject((failed.abort(error), error)))),
    );
    caller.settled();
    const data = pictures.map(({ mimeType, data: base64 }) =>
      form === 'url' ? { url: `data:${mimeType};base64,${base64}` } : { b64_json: base64 },
    );
    return ignored.report(Response.json({ created: Math.floor(deps.clock.now() / 1000), data, ...toUsage(usage) }), deps.note);
  } finally {
    if (usage) deps.record?.({ at: deps.clock.now(), provider: provider.id, model: key, principal, usage });
  }
}

const toUsage = (usage: Usage | undefined): Record<string, unknown> =>
  usage && !usage.estimated
    ? { usage: { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens, total_tokens: usage.totalTokens } }
    : {};
