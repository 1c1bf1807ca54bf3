import { messagesError } from '#shared/http/messages-api.ts';
import { ProviderError } from '../../providers/provider.ts';
import { HttpError } from '../errors.ts';

/** Anthropic's own status for an overloaded server, which its clients know. */
const OVERLOADED = 529;

/**
 * A request for conversation state on the server, which Perch does not support in this API: clients that read the code send the whole
 * conversation instead.
 */
export class ThreadsUnsupported extends HttpError {
  readonly details = { error_code: 'thread_unsupported_request', unsupported: ['thread'] };

  constructor() {
    super(400, 'invalid_request_error', '`thread` is not supported by this model or agent. Send the whole conversation.', {
      param: 'thread',
    });
  }
}

/** An error response in Anthropic's format. `told`: the error as explained to clients. */
export function answerMessagesError(error: unknown, told: HttpError, requestId: string): Response {
  const body = toErrorEvent(error, told, requestId);
  const headers = new Headers(told.headers);
  // Waiting does not restore a used-up budget, but Anthropic's clients would retry.
  if (told.type === 'insufficient_quota') headers.set('x-should-retry', 'false');
  return Response.json(body, { status: toStatus(error, told), headers });
}

/** The same error as an event of a stream. */
export function toErrorEvent(error: unknown, told: HttpError, requestId: string): { type: string } & Record<string, unknown> {
  const details = error instanceof ProviderError || error instanceof ThreadsUnsupported ? error.details : undefined;
  return { ...messagesError(toStatus(error, told), told.message, requestId, details) };
}

const toStatus = (error: unknown, told: HttpError): number =>
  error instanceof ProviderError && error.status === OVERLOADED ? OVERLOADED : told.status;
