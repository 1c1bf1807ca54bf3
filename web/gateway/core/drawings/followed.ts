/** What a connection follows that has a drawing open; no session is called so. */
export const followedKey = (drawingId: string): string => `drawing:${drawingId}`;
