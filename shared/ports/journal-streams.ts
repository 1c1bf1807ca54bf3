/** The stream's kind: calls and events as JSON texts. */
export const JOURNAL_KIND = 'journal';
/** One HTTP exchange per stream (shared/link/stream-http.ts): `PUT` and `GET` of `/<hash>`, 404 if it does not exist. */
export const BLOBS_KIND = 'blobs';
/** Header of a stream's opening: sequence number that the host must have read before it answers. */
export const MIN_HEAD_HEADER = 'x-perch-head';
/** In the opening of a client's stream: the bridge can take the client to another host; and what the host before says of it. */
export const HANDOFF_HEADER = 'x-perch-moves';
export const HANDOFF_STATE_HEADER = 'x-perch-moved';
