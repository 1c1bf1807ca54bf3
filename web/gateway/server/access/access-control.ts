/** Grants and revokes access for devices and keys. */
export interface AccessControl {
  /** Called when grants may have changed. Resolves when the bridge has the current ones, or cannot be reached now; never rejects. */
  refresh(): Promise<void>;
  /** Revokes a grant at once. Resolves when its connections are closed; never rejects. */
  revoke(principal: string): Promise<void>;
  /** Principals with open connections. */
  listConnected(): Promise<ReadonlySet<string>>;
}
