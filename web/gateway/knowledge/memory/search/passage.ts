/** A searchable passage: a memory, a section of notes, or a message. */
export interface Passage {
  /** Unique within the index. */
  id: string;
  /** Conversation or note that the passage belongs to. Passages of a thread are in order, and neighbours are related. */
  thread: string;
  text: string;
  /** When it was said or noted, in milliseconds since the Unix epoch; null if it does not age. */
  at: number | null;
  /** When a passage that does not age was written: the day that its "yesterday" counts from. */
  writtenAt?: number | undefined;
  /** Name or role of the speaker. */
  speaker?: string | undefined;
}
