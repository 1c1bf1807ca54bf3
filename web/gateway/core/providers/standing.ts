import type { Forward } from '#shared/link/splice.ts';

/** How long, in milliseconds, the bridge may repeat a successful decision without the host. */
const STANDING_MS = 10_000;

interface Terms {
  variant?: string;
  /** The upstream reports usage in streams on request. */
  addUsage?: boolean;
}

/**
 * The decision that may be repeated for a caller's next requests; undefined if the sent body differs in more than the model's name and
 * `stream_options`.
 */
export function toStanding(
  own: Record<string, unknown>,
  sent: Record<string, unknown>,
  { variant = '', addUsage = false }: Terms,
): Forward['standing'] {
  const { model: asked, ...rest } = own;
  const { model, ...told } = sent;
  if (!('stream_options' in rest)) delete told['stream_options'];
  const alike = Object.keys(rest).length === Object.keys(told).length && Object.entries(rest).every(([key, value]) => told[key] === value);
  return alike && typeof asked === 'string' && typeof model === 'string' ? { ms: STANDING_MS, asked, model, variant, addUsage } : undefined;
}
