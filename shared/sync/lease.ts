/** A lease that is asked for: of a run, of a job's tick, of a channel. */
export interface LeaseWanted {
  name: string;
  holder: string;
  /** Holder of a lease that nobody ever took. */
  presumed?: string;
  ttlMs: number;
  /** Only once all that was stored here before is with the vault's other machines; else nobody has it, for now. */
  settled?: boolean;
  /** Present hosts; null if none can be said to be gone. */
  present: readonly string[] | null;
}
