/** Result of a tool call whose reply ended first, as it is stored and shown to models. */
export const UNFINISHED_RESULT = '{"error":"the run ended before the tool did"}';
