/** Drops the final full stop of a sentence, so that it can stand inside another one. */
export const toClause = (text: string): string => text.replace(/\.$/, '');
