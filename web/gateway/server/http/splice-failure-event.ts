import { writeEvent } from '#shared/http/messages-api.ts';
import { writeSse } from '#shared/http/sse.ts';
import type { SpliceFailure } from '#shared/link/splice.ts';
import { createInterruptedError } from '../../providers/chunk.ts';
import { canForward } from '../../providers/forwarding-provider.ts';
import { canForwardMessages } from '../../providers/messages-forwarding.ts';
import { DONE_EVENT } from './completion-objects.ts';
import type { HttpDeps } from './http-deps.ts';
import { toHttpError } from './http-error.ts';
import { toErrorEvent } from './messages/messages-error.ts';

/**
 * Text to send after events that the bridge passed on by a standing decision and that ended with a failure: an error object and `[DONE]`.
 */
export async function writeSpliceFailure(
  { call, end, wire }: SpliceFailure,
  signal: AbortSignal,
  { providers, fault, note }: Pick<HttpDeps, 'providers' | 'fault' | 'note'>,
): Promise<string> {
  const provider = await providers.resolve(call.model, undefined, signal).then(
    (route) => route.provider,
    () => undefined,
  );
  const error =
    provider && (canForward(provider) || canForwardMessages(provider))
      ? await provider.toEndFault(end, signal)
      : createInterruptedError(call.provider);
  const httpError = toHttpError(error, fault);
  note?.('warn', httpError.message, { requestId: call.requestId, principal: call.principal, model: call.model, status: httpError.status });
  if (wire === 'messages') return writeEvent(toErrorEvent(error, httpError, call.requestId ?? ''));
  return writeSse(JSON.stringify(httpError.body())) + DONE_EVENT;
}
