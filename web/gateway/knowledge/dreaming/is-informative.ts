import { extractTerms } from '../search/text/extract-terms.ts';

const MIN_TERMS = 3;

/** A key of a JSON object with its value. */
const JSON_MEMBER = /"\w+"\s*:\s*(?:["{[\d-]|true|false|null)/;

/** Whether a text is informative: not a question, not a word or two, and not a piece of JSON, such as a tool’s result. */
export const isInformative = (text: string): boolean =>
  !/[?？]\s*$/.test(text) && !JSON_MEMBER.test(text) && new Set(extractTerms(text)).size >= MIN_TERMS;
