import { SseOverload } from '#shared/http/sse-errors.ts';
import { type ErrorBody, formatErrorBody } from '#shared/http/error-body.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { CircuitOpenError } from '../../providers/request-breaker.ts';
import { type ModelRequest, ProviderError, UnsupportedOptionError } from '../../providers/provider.ts';

/** Types of `/v1` errors. `aborted` is specific to Perch: the run was stopped while the client waited for it. */
type HttpErrorType =
  | 'invalid_request_error'
  | 'forbidden'
  | 'not_found'
  | 'model_not_found'
  | 'rate_limited'
  | 'insufficient_quota'
  | 'api_error'
  | 'unavailable'
  | 'aborted';

/** A failure as `/v1` returns it: `{"error": {message, type, param, code}}`. */
export class HttpError extends Error {
  override name = 'HttpError';
  readonly status: number;
  readonly type: HttpErrorType;
  readonly param: string | null;
  readonly code: string | undefined;
  readonly headers: Record<string, string>;

  constructor(
    status: number,
    type: HttpErrorType,
    message: string,
    { param = null, headers = {}, code }: { param?: string | null; headers?: Record<string, string>; code?: string } = {},
  ) {
    super(message);
    this.status = status;
    this.type = type;
    this.param = param;
    this.code = code;
    this.headers = headers;
  }

  body(): ErrorBody<HttpErrorType> {
    return formatErrorBody(this.type, this.message, this);
  }

  response(): Response {
    return Response.json(this.body(), { status: this.status, headers: this.headers });
  }
}

export const badRequest = (message: string, param: string | null = null): HttpError =>
  new HttpError(400, 'invalid_request_error', message, { param });

export const modelNotFound = (message: string): HttpError => new HttpError(404, 'model_not_found', message, { param: 'model' });

const toRetryAfterHeader = (ms: number | undefined): Record<string, string> => ({
  'retry-after': String(Math.max(1, Math.ceil((ms ?? 1000) / 1000))),
});

/** Parameter names in chat completions. */
const CHAT_PARAMS: Partial<Record<keyof ModelRequest, string>> = {
  maxTokens: 'max_tokens',
  toolChoice: 'tool_choice',
  parallelToolCalls: 'parallel_tool_calls',
  responseFormat: 'response_format',
  topP: 'top_p',
  reasoningEffort: 'reasoning_effort',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
};

export const toChatParam = (field: keyof ModelRequest): string => CHAT_PARAMS[field] ?? field;

const toCodeField = ({ code }: ProviderError): { code?: string } => (code === undefined ? {} : { code });

/** Error of a model that the client called directly: problems of the request itself are reported as such. */
function toDirectError(error: ProviderError, message = error.message): HttpError {
  if (error instanceof CircuitOpenError)
    return new HttpError(503, 'unavailable', error.message, { headers: toRetryAfterHeader(error.retryAfterMs) });
  if (error.cause instanceof SseOverload) return new HttpError(503, 'unavailable', error.message);
  if (error instanceof UnsupportedOptionError) {
    const param = toChatParam(error.field);
    return badRequest(`Invalid \`${param}\`: ${error.message}`, param);
  }
  switch (error.status) {
    case 400:
    case 422:
      return new HttpError(400, 'invalid_request_error', message, { param: error.param ?? null, ...toCodeField(error) });
    case 404:
      return modelNotFound(error.message);
    case 413:
      return new HttpError(413, 'invalid_request_error', message, toCodeField(error));
    case 429:
      if (error.code === 'insufficient_quota') return new HttpError(429, error.code, error.message);
      return new HttpError(429, 'rate_limited', error.message, { headers: toRetryAfterHeader(error.retryAfterMs) });
    default:
      return new HttpError(502, 'api_error', error.message);
  }
}

/** Converts anything thrown to an HTTP error. `fault` logs unexpected errors and assigns an ID. */
export function toHttpError(error: unknown, fault: (error: unknown) => RpcError): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof ProviderError) return toDirectError(error);
  const rpc = error instanceof RpcError ? error : fault(error);
  switch (rpc.code) {
    case 'INVALID_PARAMS':
      return badRequest(rpc.message);
    case 'NOT_FOUND':
      return modelNotFound(rpc.message);
    case 'RATE_LIMITED':
      // A budget has no reset time; clients know this type as one that waiting does not resolve.
      if (rpc.extra.details?.['limit'] === 'budget') return new HttpError(429, 'insufficient_quota', rpc.message);
      return new HttpError(429, 'rate_limited', rpc.message, { headers: toRetryAfterHeader(rpc.extra.retryAfterMs) });
    case 'ABORTED':
      return new HttpError(499, 'aborted', rpc.message);
    case 'AUTH_REQUIRED':
      return new HttpError(403, 'forbidden', rpc.message);
    default:
      if (rpc.cause instanceof UnsupportedOptionError || rpc.cause instanceof CircuitOpenError) return toDirectError(rpc.cause);
      // Retrying the same request would not help.
      if (rpc.cause instanceof ProviderError && rpc.cause.isRequestFault) return toDirectError(rpc.cause, rpc.message);
      // The provider of an agent failed, not the gateway.
      if (rpc.cause instanceof ProviderError) return new HttpError(502, 'api_error', rpc.message);
      if (rpc.extra.retryable)
        return new HttpError(503, 'unavailable', rpc.message, { headers: toRetryAfterHeader(rpc.extra.retryAfterMs) });
      return new HttpError(500, 'api_error', rpc.message);
  }
}
