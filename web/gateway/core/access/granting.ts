/** How devices and keys are let in, and put out. */
export interface Granting {
  /** Who may be let in has changed. Resolves when the bridge has what stands, or cannot be told now; never rejects. */
  changed(): Promise<void>;
  /** Takes a grant back at once. Resolves when all that was open is closed; never rejects. */
  revoke(principal: string): Promise<void>;
  /** Who has something open. */
  connected(): Promise<ReadonlySet<string>>;
}
