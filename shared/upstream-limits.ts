/** How long a provider's server is waited for, and when it is not asked any more. */
export interface UpstreamLimits {
  /** Milliseconds until a stream's answer begins. */
  firstByteMs: number;
  /** Timeout in milliseconds for a response that is not streamed: it arrives only when it is complete. */
  wholeMs: number;
  /** Milliseconds without a byte within an answer. */
  idleMs: number;
  /** Failures of the server itself, one behind the other, after which it is not asked for a while; 0: it always is. */
  failures: number;
  /** Milliseconds of that while. */
  pauseMs: number;
}

/** Allowed ranges of the settings: times in milliseconds, and the number of failures. */
export const UPSTREAM_RANGES = { ms: { min: 1000, max: 3_600_000 }, failures: { min: 0, max: 1000 } } as const;

/** Decisions, "Chat": a silent provider ends after 60 s. */
export const DEFAULT_UPSTREAM_LIMITS: UpstreamLimits = {
  firstByteMs: 60_000,
  wholeMs: 600_000,
  idleMs: 60_000,
  failures: 5,
  pauseMs: 30_000,
};
