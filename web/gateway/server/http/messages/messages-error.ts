import { createMessagesError } from '#shared/http/messages-api.ts';
import { ProviderError } from '../../../providers/provider.ts';
import { HttpError } from '../http-error.ts';

/** Anthropic's own status for an overloaded server, which its clients know. */
const OVERLOADED_STATUS = 529;

/**
 * A request for conversation state on the server, which Perch does not support in this API: clients that read the code send the whole
 * conversation instead.
 */
export class UnsupportedThreadError extends HttpError {
  readonly details = { error_code: 'thread_unsupported_request', unsupported: ['thread'] };

  constructor() {
    super(400, 'invalid_request_error', '`thread` is not supported by this model or agent. Send the whole conversation.', {
      param: 'thread',
    });
  }
}

/** An error response in Anthropic's format. `httpError`: the error as explained to clients. */
export function toMessagesErrorResponse(error: unknown, httpError: HttpError, requestId: string): Response {
  const body = toErrorEvent(error, httpError, requestId);
  const headers = new Headers(httpError.headers);
  // Waiting does not restore a used-up budget, but Anthropic's clients would retry.
  if (httpError.type === 'insufficient_quota') headers.set('x-should-retry', 'false');
  return Response.json(body, { status: toStatus(error, httpError), headers });
}

/** The same error as an event of a stream. */
export function toErrorEvent(error: unknown, httpError: HttpError, requestId: string): { type: string } & Record<string, unknown> {
  const details = error instanceof ProviderError || error instanceof UnsupportedThreadError ? error.details : undefined;
  return { ...createMessagesError(toStatus(error, httpError), httpError.message, requestId, details) };
}

const toStatus = (error: unknown, httpError: HttpError): number =>
  error instanceof ProviderError && error.status === OVERLOADED_STATUS ? OVERLOADED_STATUS : httpError.status;
