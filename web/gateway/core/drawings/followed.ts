/** Key that a connection follows while it has a drawing open; no session has such a key. */
export const followedKey = (drawingId: string): string => `drawing:${drawingId}`;
