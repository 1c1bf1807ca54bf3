/** The header by which a request to `/v1` is known in its answer and in the log. */
export const REQUEST_ID = 'x-request-id';

/** The caller's own request id if it is printable anywhere, else a new one. */
export const requestIdOf = (given: string | string[] | null | undefined): string =>
  typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : `req_${crypto.randomUUID().replaceAll('-', '')}`;
