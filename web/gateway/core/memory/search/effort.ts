/** Analysing a text takes so many times what going through it does. */
const EFFORT = 4;
/** What a passage takes beside its text, in characters. */
const EACH = 200;

/** What adding a passage to a search takes, in characters that are gone through. */
export const effortOf = (text: string): number => EFFORT * text.length + EACH;
