import { truncateText, MAX_ERROR_CHARS, truncateMiddle } from '../truncate-text.ts';

/** Body of every error response over HTTP. */
export interface ErrorBody<T extends string = string> {
  error: { message: string; type: T; param: string | null; code: string | null };
}

/** Creates an error body. An invalid request is explained by `param`; other errors default to their type as code. */
export function formatErrorBody<T extends string>(
  type: T,
  message: string,
  { param = null, code = type === 'invalid_request_error' ? null : type }: { param?: string | null; code?: string | null | undefined } = {},
): ErrorBody<T> {
  // An unknown parameter is the caller's own text.
  const short = param && truncateText(param);
  const shortMessage = param === null || short === param ? message : message.replaceAll(param, () => short ?? '');
  return { error: { message: truncateMiddle(shortMessage, MAX_ERROR_CHARS), type, param: short, code } };
}
