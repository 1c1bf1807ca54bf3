/** A link with an address written by the model, which the person is asked to confirm. */
class LinkConfirmation {
  /** `sources`: content from outside that was read before it; empty while its reply is being written. */
  pending = $state.raw<{ url: string; sources: readonly string[] } | null>(null);
}

export const linkConfirmation = new LinkConfirmation();
