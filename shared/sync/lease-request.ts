/** A requested lease: of a run, of a job's tick, of a channel. */
export interface LeaseRequest {
  name: string;
  holder: string;
  /** Holder of a lease that was never taken. */
  presumed?: string;
  ttlMs: number;
  /** Grant it only once all earlier local records have reached the vault's other machines; otherwise to nobody for now. */
  settled?: boolean;
  /** Present hosts; null if absence cannot be determined. */
  present: readonly string[] | null;
}
