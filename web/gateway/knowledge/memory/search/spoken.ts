import type { Passage } from './passage.ts';

/** A date in brackets or in digits, at the beginning of a line. */
const LEADING_DATE = /^(?:[[(](?<note>[^\])\n]{4,40})[\])]|(?<iso>(?:19|20)\d\d-[01]\d-[0-3]\d)(?:[ T][\d:.]+Z?)?)[\s:,-]*(?=\S)/u;
/** A name with a colon, as in `Ada Byron: I moved.` */
const LEADING_NAME =
  /^(?<name>[\p{Lu}\p{Lo}][\p{L}\p{M}.'’-]{0,30}(?: [\p{Lu}\p{Lo}][\p{L}\p{M}.'’-]{0,30}){0,2}|user|assistant)(?:: |：)(?=\S)/u;

/** Who said a passage, the words, and the date before them. */
interface Spoken {
  speaker: string | undefined;
  text: string;
  date: string | undefined;
}

/** A single line may begin with a date and the name of its speaker. Without a name, all of it is text. */
export function parseSpoken({ speaker, text }: Pick<Passage, 'speaker' | 'text'>): Spoken {
  const whole = { speaker, text, date: undefined };
  if (speaker !== undefined) return whole;
  const dated = LEADING_DATE.exec(text);
  const line = dated ? text.slice(dated[0].length) : text;
  const found = LEADING_NAME.exec(line);
  if (!found) return whole;
  return { speaker: found.groups?.['name'], text: line.slice(found[0].length), date: dated?.groups?.['note'] ?? dated?.groups?.['iso'] };
}

/** Lines written within this time belong together. */
const TOGETHER_MS = 3_600_000;

/** Thread of a single memory: spoken lines of the same hour are a conversation, and any other memory stands alone. */
export const toMemoryThread = ({ id, text, createdAt }: { id: string; text: string; createdAt: number | null }): string =>
  createdAt === null || parseSpoken({ speaker: undefined, text }).speaker === undefined
    ? id
    : `written/${Math.floor(createdAt / TOGETHER_MS)}`;
