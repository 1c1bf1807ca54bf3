/** Path of the Responses API, over HTTP and as a WebSocket. */
export const RESPONSES_PATH = '/v1/responses';

/** Kind of a stream to the host that carries the messages of one WebSocket at that path, as text in both directions. */
export const RESPONSES_KIND = 'responses';
