/** The header by which a request to `/v1` is known in its answer and in the log. */
export const REQUEST_ID_HEADER = 'x-request-id';

/** Returns the caller's request id if it is safe to print anywhere, else a new one. */
export const toRequestId = (header: string | string[] | null | undefined): string =>
  typeof header === 'string' && /^[\w.:-]{1,128}$/.test(header) ? header : `req_${crypto.randomUUID().replaceAll('-', '')}`;
