import type { ForwardRequest } from '#shared/link/splice.ts';

/** How long, in milliseconds, the bridge may repeat a successful decision without the host. */
const CACHED_ROUTE_MS = 10_000;

interface CachedRouteOptions {
  variant?: string;
  /** The upstream reports usage in streams on request. */
  addUsage?: boolean;
}

/**
 * The decision that may be repeated for a caller's next requests; undefined if the sent body differs in more than the model's name and
 * `stream_options`.
 */
export function toCachedRoute(
  receivedBody: Record<string, unknown>,
  sentBody: Record<string, unknown>,
  { variant = '', addUsage = false }: CachedRouteOptions,
): ForwardRequest['standing'] {
  const { model: requestedModel, ...rest } = receivedBody;
  const { model, ...sentFields } = sentBody;
  if (!('stream_options' in rest)) delete sentFields['stream_options'];
  const isSame =
    Object.keys(rest).length === Object.keys(sentFields).length && Object.entries(rest).every(([key, value]) => sentFields[key] === value);
  return isSame && typeof requestedModel === 'string' && typeof model === 'string'
    ? { ms: CACHED_ROUTE_MS, asked: requestedModel, model, variant, addUsage }
    : undefined;
}
