/** The chat on screen, if outside content was read in it that no person has reviewed. */
export interface TrustableChat {
  /** `<agentId>/<sessionId>`. */
  key: string;
  sources: readonly string[];
  /** Rejects if the gateway refuses. */
  trust(): Promise<void>;
}

class TrustableChatState {
  current = $state.raw<TrustableChat | null>(null);

  /** Sets the chat. Returns a function that clears it. */
  offer(chat: TrustableChat): () => void {
    this.current = chat;
    return () => {
      if (this.current === chat) this.current = null;
    };
  }
}

export const trustableChat = new TrustableChatState();
