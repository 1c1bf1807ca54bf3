/** Removes the final full stop of a sentence, to use it within another one. */
export const toClause = (text: string): string => text.replace(/\.$/, '');
