/** Cost of analysing a text relative to scanning it. */
const EFFORT = 4;
/** Fixed cost of a passage, in characters. */
const EACH = 200;

/** Cost of adding a passage to a search, in scanned characters. */
export const effortOf = (text: string): number => EFFORT * text.length + EACH;
