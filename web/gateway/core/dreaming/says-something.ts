import { tokenize } from '../retrieval/tokenize.ts';

const FEWEST_TERMS = 3;

/** Whether a text tells anything: questions ask for what is known, and a word or two say nothing by themselves. */
export const saysSomething = (text: string): boolean => !/[?？]\s*$/.test(text) && new Set(tokenize(text)).size >= FEWEST_TERMS;
