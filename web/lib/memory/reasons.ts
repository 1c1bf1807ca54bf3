import { categoryWord } from './categories.ts';
import type { MemoryFound, RecalledMemory } from './types.ts';

const listed = new Intl.ListFormat('en');
const quoted = (words: readonly string[]): string => listed.format(words.map((word) => `“${word}”`));

/** Why a memory was found, a short sentence for each kind of reason. One that is like better ones in other words has no reason of its own. */
export function reasonsOf({ words, beside, timely, alike }: RecalledMemory['why']): string[] {
  const reasons = [
    ...(words.length > 0 ? [`Speaks of ${quoted(words)}`] : []),
    ...(beside.length > 0 ? [`${quoted(beside)} stands beside it`] : []),
    ...(timely ? ['Is of the time that was named'] : []),
    ...(alike !== undefined && alike > 0 ? [`Means much the same: ${Math.round(alike * 100)} %`] : []),
  ];
  return reasons.length > 0 ? reasons : ['Has words of others that were found'];
}

/** What a passage that was found is. */
export function kindOf({ kind, category, speaker }: Pick<MemoryFound, 'kind' | 'category' | 'speaker'>): string {
  switch (kind) {
    case 'memory':
      return category === undefined ? 'Remembered' : categoryWord(category);
    case 'note':
      return 'Written in the memory’s file';
    case 'day':
      return 'Notes of a day';
    case 'message':
      return speaker === undefined ? 'Said in a chat' : `Said by ${speakerWord(speaker)}`;
  }
}

const SPEAKERS: ReadonlyMap<string, string> = new Map([
  ['user', 'you'],
  ['assistant', 'the assistant'],
  ['tool', 'a tool'],
  ['system', 'the system'],
]);

/** Who spoke, for the person who reads it. */
export const speakerWord = (speaker: string): string => SPEAKERS.get(speaker) ?? speaker;
