/**
 * Minimum fit of the results of a search (`FoundPassage.fit`): below it, most likely none of them answers the query. Chosen on the
 * conversations for tuning (tests/bench/NOTES.md).
 */
export const MIN_FIT = 0.25;
