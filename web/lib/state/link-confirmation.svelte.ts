/** A link whose address the model composed, and that waits for a person to look at it. */
class LinkConfirmation {
  /** `sources`: what was read before it was written; empty if its reply is being written. */
  pending = $state.raw<{ url: string; sources: readonly string[] } | null>(null);
}

export const linkConfirmation = new LinkConfirmation();
