/** What is found: a remembered fact, a note's section, or what somebody said. */
export interface Passage {
  /** Unique within the index. */
  id: string;
  /** What it is a part of: a conversation, a note. Passages of a thread are in their order, and neighbours speak of the same. */
  thread: string;
  text: string;
  /** When it was said or noted, in milliseconds since 1970; null where it does not age. */
  at: number | null;
  /** Who said it. */
  speaker?: string | undefined;
}
