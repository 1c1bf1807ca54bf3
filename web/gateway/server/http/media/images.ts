import { toBase64 } from '#shared/base64.ts';
import { SSE_HEADERS } from '#shared/http/sse.ts';
import type { MessagePart, Usage } from '#shared/rpc/record-schemas.ts';
import { z } from '#shared/rpc/zod.ts';
import { estimateUsage } from '../../../providers/estimate-usage.ts';
import { ProviderError } from '../../../providers/provider.ts';
import type { Route } from '../../../providers/providers.ts';
import { canDraw, type DrawingProvider } from '../../../providers/relaying-provider.ts';
import { sumUsage } from '../../../providers/sum-usage.ts';
import { readJson } from '../request-body.ts';
import { toBodyStream, type Caller, runForCaller } from '../caller.ts';
import type { ChatDeps } from '../chat-endpoint.ts';
import { badRequest } from '../http-error.ts';
import { IgnoredFields } from '../ignored-fields.ts';
import { parseHttpParams } from '../parse-http-params.ts';
import { findMediaRoute, withTaskHint, IMAGES_TASK, requireRelay } from './media-routes.ts';
import { isEventStream, relayEvents, readRelayedJson, readMediaUsage } from './relayed-response.ts';
import { formBoolean, formNumber, readForm, toFields, fileField, withModel } from './form-upload.ts';

/** Default model. */
const DEFAULT_IMAGE_MODEL = 'gpt-image-1';
const MAX_IMAGES = 10;

const sharedFields = {
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
  ...sharedFields,
  n: z.number().int().min(1).max(MAX_IMAGES).nullish(),
  stream: z.boolean().nullish(),
});

export const imageEditRequest = z.looseObject({
  ...sharedFields,
  image: z.union([fileField, z.array(fileField).min(1).max(16)], 'must be a file that is not empty'),
  mask: fileField.optional(),
  n: formNumber(1, MAX_IMAGES).optional(),
  stream: formBoolean.optional(),
});

type ImageFields = Pick<z.output<typeof imageRequest>, keyof typeof sharedFields | 'n' | 'stream'> & Record<string, unknown>;

interface ImageCall {
  fields: ImageFields;
  principal: string;
  caller: Caller;
}

/** `POST /v1/images/generations`. Throws errors that `toHttpError` explains. */
export function handleImages(request: Request, principal: string, deps: ChatDeps): Promise<Response> {
  return runForCaller(request, async (caller) => {
    const fields = parseHttpParams(imageRequest, await readJson(request));
    const route = await findImageRoute(fields, caller, deps);
    const call = { fields, principal, caller };
    const { provider } = route;
    if (canDraw(provider)) return withTaskHint(IMAGES_TASK, () => drawImages(call, route, provider, [], deps));
    return forwardImages(call, route, { path: '/images/generations', body: { ...fields, model: route.model } }, deps);
  });
}

/** `POST /v1/images/edits`. Throws errors that `toHttpError` explains. */
export function handleImageEdits(request: Request, principal: string, deps: ChatDeps): Promise<Response> {
  return runForCaller(request, async (caller) => {
    const form = await readForm(request);
    const fields = parseHttpParams(imageEditRequest, toFields(form));
    const route = await findImageRoute(fields, caller, deps);
    const call = { fields, principal, caller };
    const { provider } = route;
    if (!canDraw(provider)) return forwardImages(call, route, { path: '/images/edits', body: withModel(form, route.model) }, deps);
    if (fields.mask) throw badRequest(`\`mask\` is not supported by ${provider.name}. Describe the area in \`prompt\`.`, 'mask');
    const images = await Promise.all([fields.image].flat().map(toPart));
    return withTaskHint(IMAGES_TASK, () => drawImages(call, route, provider, images, deps));
  });
}

const findImageRoute = ({ model }: ImageFields, { abort }: Caller, deps: ChatDeps): Promise<Route> =>
  findMediaRoute(model ?? DEFAULT_IMAGE_MODEL, IMAGES_TASK, abort.signal, deps);

const toPart = async (file: File): Promise<MessagePart> => ({
  type: 'image',
  mimeType: file.type.startsWith('image/') ? file.type : 'image/png',
  data: toBase64(new Uint8Array(await file.arrayBuffer())),
});

async function forwardImages(
  { fields, principal, caller }: ImageCall,
  { provider, key }: Route,
  { path, body }: { path: string; body: object | FormData },
  deps: ChatDeps,
): Promise<Response> {
  const { signal } = caller.abort;
  const relayed = await withTaskHint(IMAGES_TASK, () =>
    requireRelay(provider, IMAGES_TASK).relay(path, body, signal, { streamed: fields.stream === true }),
  );
  const record = (reported: Usage | undefined): void =>
    deps.record?.({
      ...{ at: deps.clock.now(), provider: provider.id, model: key, principal },
      usage: reported ?? estimateUsage([{ role: 'user', content: fields.prompt }], '', key),
    });
  if (isEventStream(relayed)) {
    const events = relayEvents(relayed, { provider: provider.name, record, explain: deps.explain, signal, getText: () => '', done: false });
    return new Response(toBodyStream(events, caller, await events.next()), { headers: SSE_HEADERS });
  }
  const { text, value } = await readRelayedJson(provider.name, relayed);
  caller.release();
  record(readMediaUsage(value));
  return new Response(text, { headers: { 'content-type': 'application/json' } });
}

interface GeneratedImage {
  mimeType: string;
  data: string;
}

/** Asks a model that can reply with images, once per image. */
async function drawImages(
  { fields, principal, caller }: ImageCall,
  { model, key }: Route,
  provider: DrawingProvider,
  images: MessagePart[],
  deps: ChatDeps,
): Promise<Response> {
  const { prompt, n, stream, response_format: responseFormat } = fields;
  if (stream === true) throw badRequest(`\`stream\` is not supported for images of ${provider.name}.`, 'stream');
  const ignored = new IgnoredFields();
  const knownFields = new Set(['model', 'prompt', 'n', 'stream', 'response_format', 'user', 'image', 'mask']);
  for (const [name, value] of Object.entries(fields)) if (value != null && value !== 'auto' && !knownFields.has(name)) ignored.add(name);
  const content: MessagePart[] = [...images, { type: 'text', text: prompt }];
  const failed = new AbortController();
  const signal = AbortSignal.any([caller.abort.signal, failed.signal]);
  let usage: Usage | undefined;
  const drawOne = async (): Promise<GeneratedImage> => {
    let picture: GeneratedImage | undefined;
    let text = '';
    let reported: Usage | undefined;
    for await (const event of provider.draw(model, content, signal)) {
      if (event.type === 'picture') picture ??= event.picture;
      else if (event.type === 'text' || event.type === 'refusal') text += event.text;
      else if (event.type === 'usage') reported = event.usage;
    }
    reported ??= estimateUsage([{ role: 'user', content }], text, key);
    usage = usage ? sumUsage(usage, reported) : reported;
    if (picture) return picture;
    const reply = text.trim().slice(0, 300);
    throw new ProviderError(`${provider.name} returned no image${reply === '' ? '. Choose a model that creates images.' : `: ${reply}`}`);
  };
  try {
    const pictures = await Promise.all(
      Array.from({ length: n ?? 1 }, () => drawOne().catch((error: unknown) => Promise.reject((failed.abort(error), error)))),
    );
    caller.release();
    const data = pictures.map(({ mimeType, data: base64 }) =>
      responseFormat === 'url' ? { url: `data:${mimeType};base64,${base64}` } : { b64_json: base64 },
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
