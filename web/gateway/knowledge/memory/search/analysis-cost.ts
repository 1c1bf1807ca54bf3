/** Cost of analysing a text relative to scanning it. */
const COST_PER_CHAR = 4;
/** Fixed cost of a passage, in characters. */
const PASSAGE_COST = 200;

/** Cost of adding a passage to a search, in scanned characters. */
export const computeAnalysisCost = (text: string): number => COST_PER_CHAR * text.length + PASSAGE_COST;
