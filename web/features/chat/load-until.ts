interface PagedMessages {
  messages: readonly { id: string }[];
  /** Null at the top. */
  cursor: string | null;
  loadOlder(): Promise<void>;
}

/** Loads earlier pages until a message is found, the start is reached, or loading fails. */
export async function loadUntilMessage(chat: PagedMessages, messageId: string): Promise<void> {
  while (chat.cursor !== null && !chat.messages.some(({ id }) => id === messageId)) {
    const before = chat.cursor;
    await chat.loadOlder();
    if (chat.cursor === before) return;
  }
}
