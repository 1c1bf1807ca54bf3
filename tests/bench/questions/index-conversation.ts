import { MemoryIndex } from '../../../web/gateway/knowledge/memory/search/memory-index.ts';
import { toMemoryThread } from '../../../web/gateway/knowledge/memory/search/spoken.ts';

export interface IndexedConversation {
  name: string;
  sessions: readonly { date: string; turns: readonly (readonly [id: string, speaker: string, text: string])[] }[];
}

/** Indexes a conversation. `asLines`: each turn is a memory `Name: text`. `without`: ids of turns to leave out. */
export function indexConversation(
  { name, sessions }: IndexedConversation,
  { asLines = false, without = [] }: { asLines?: boolean; without?: readonly string[] } = {},
): MemoryIndex {
  const index = new MemoryIndex();
  for (const [nth, { date, turns }] of sessions.entries()) {
    const at = Date.parse(`${date}Z`);
    for (const [id, speaker, text] of turns) {
      if (without.includes(id)) continue;
      const line = `${speaker}: ${text}`;
      index.add(
        asLines
          ? { id, thread: toMemoryThread({ id, text: line, createdAt: at }), text: line, at: null, writtenAt: at }
          : { id, thread: `${name}/${nth}`, text, speaker, at },
      );
    }
  }
  return index;
}
