/** Key that a connection follows while it has a drawing open; no session has such a key. */
export const toDrawingKey = (drawingId: string): string => `drawing:${drawingId}`;
