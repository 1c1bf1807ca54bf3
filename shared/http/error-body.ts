import { cutShort, MAX_MESSAGE, withoutMiddle } from '../cut-short.ts';

/** What an error answers over HTTP, wherever it is made (decisions, "HTTP"). */
export interface ErrorBody<T extends string = string> {
  error: { message: string; type: T; param: string | null; code: string | null };
}

/** What is wrong with a request is told by `param`; anything else has its type as code, where it is given none. */
export function errorBody<T extends string>(
  type: T,
  message: string,
  { param = null, code = type === 'invalid_request_error' ? null : type }: { param?: string | null; code?: string | null | undefined } = {},
): ErrorBody<T> {
  // A parameter that nobody knows is the caller's own word.
  const short = param && cutShort(param);
  const told = param === null || short === param ? message : message.replaceAll(param, () => short ?? '');
  return { error: { message: withoutMiddle(told, MAX_MESSAGE), type, param: short, code } };
}
