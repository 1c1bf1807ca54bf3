import { messagesError } from '#shared/http/messages-api.ts';
import { ProviderError } from '../../providers/provider.ts';
import type { HttpError } from '../errors.ts';

/** Anthropic's own status of an overloaded server, which its clients know. */
const OVERLOADED = 529;

/** An error as Anthropic's API answers it. `told` is the error as it is explained to callers. */
export function answerMessagesError(error: unknown, told: HttpError, requestId: string): Response {
  // Waiting does not help against a used-up budget, but Anthropic's clients would.
  const headers = new Headers(told.headers);
  if (told.type === 'insufficient_quota') headers.set('x-should-retry', 'false');
  const status = toStatus(error, told);
  return Response.json(messagesError(status, told.message, requestId), { status, headers });
}

/** The same as an event of a stream. */
export const toErrorEvent = (error: unknown, told: HttpError, requestId: string): { type: string } & Record<string, unknown> => ({
  ...messagesError(toStatus(error, told), told.message, requestId),
});

const toStatus = (error: unknown, told: HttpError): number =>
  error instanceof ProviderError && error.status === OVERLOADED ? OVERLOADED : told.status;
