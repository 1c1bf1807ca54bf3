/** The protocol spoken here, and the oldest one still answered (decisions, "Frames and connection"). */
export const PROTOCOL = 3;
export const MIN_PROTOCOL = 2;

/** Sizes and times of the protocol (decisions, "Frames and connection"): bytes and milliseconds. */
export const LIMITS = {
  maxPayload: 25 * 1024 * 1024,
  maxPayloadBeforeConnect: 64 * 1024,
  maxBufferedBytes: 4 * 1024 * 1024,
  maxConnections: 1000,
  maxMessageChars: 500_000,
  scanFrom: 1024 * 1024,
  maxStructuralChars: 200_000,
  connectTimeoutMs: 15_000,
  tickIntervalMs: 15_000,
} as const;

/** WebSocket close codes that we use, by meaning. */
export const CLOSE = {
  normal: 1000,
  goingAway: 1001,
  protocolError: 1002,
  policy: 1008,
  tooBig: 1009,
  internal: 1011,
  noGateway: 1013,
  /** Of a request's stream: its caller has the whole answer already, past the host. */
  spliced: 4013,
  /** On the uplink: another host is about to dial (a browser's socket may not say 1012). */
  handingOver: 4012,
} as const;
