/** Replaces a deleted text where a text must stand. */
export const FORGOTTEN_TEXT = '[forgotten]';
