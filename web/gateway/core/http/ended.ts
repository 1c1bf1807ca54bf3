import { writeEvent } from '#shared/http/messages-api.ts';
import { writeSse } from '#shared/http/sse.ts';
import type { Ended } from '#shared/link/splice.ts';
import { brokeOff } from '../providers/chunk.ts';
import { canForward } from '../providers/forwarding.ts';
import { canForwardMessages } from '../providers/messages-forwarding.ts';
import { DONE } from './completion.ts';
import type { HttpDeps } from './deps.ts';
import { toHttpError } from './errors.ts';
import { toErrorEvent } from './messages/errors.ts';

/**
 * Text to send after events that the bridge passed on by a standing decision and that ended with a failure: an error object and `[DONE]`.
 */
export async function tellOfEnd(
  { call, end, wire }: Ended,
  signal: AbortSignal,
  { providers, fault, note }: Pick<HttpDeps, 'providers' | 'fault' | 'note'>,
): Promise<string> {
  const provider = await providers.resolve(call.model, undefined, signal).then(
    (route) => route.provider,
    () => undefined,
  );
  const error =
    provider && (canForward(provider) || canForwardMessages(provider)) ? await provider.faultOfEnd(end, signal) : brokeOff(call.provider);
  const told = toHttpError(error, fault);
  note?.('warn', told.message, { requestId: call.requestId, principal: call.principal, model: call.model, status: told.status });
  if (wire === 'messages') return writeEvent(toErrorEvent(error, told, call.requestId ?? ''));
  return writeSse(JSON.stringify(told.body())) + DONE;
}
