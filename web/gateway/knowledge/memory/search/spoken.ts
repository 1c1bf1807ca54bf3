import type { Passage } from './passage.ts';

/** A date in brackets and a name with a colon, at the beginning of a line such as `[8 May 2023] Ada Byron: I moved.` */
const LEADING_NAME =
  /^(?:[[(][^\])\n]{4,40}[\])]\s*)?(?<name>[\p{Lu}\p{Lo}][\p{L}\p{M}.'’-]{0,30}(?: [\p{Lu}\p{Lo}][\p{L}\p{M}.'’-]{0,30}){0,2}|user|assistant)(?:: |：)(?=\S)/u;

/** Who said a passage, and the words. A single line may begin with the name of its speaker. */
export function parseSpoken({ speaker, text }: Pick<Passage, 'speaker' | 'text'>): { speaker: string | undefined; text: string } {
  if (speaker !== undefined) return { speaker, text };
  const found = LEADING_NAME.exec(text);
  return found ? { speaker: found.groups?.['name'], text: text.slice(found[0].length) } : { speaker, text };
}

/** Lines written within this time belong together. */
const TOGETHER_MS = 3_600_000;

/** Thread of a single memory: spoken lines of the same hour are a conversation, and any other memory stands alone. */
export const toMemoryThread = ({ id, text, createdAt }: { id: string; text: string; createdAt: number | null }): string =>
  createdAt === null || parseSpoken({ speaker: undefined, text }).speaker === undefined
    ? id
    : `written/${Math.floor(createdAt / TOGETHER_MS)}`;
