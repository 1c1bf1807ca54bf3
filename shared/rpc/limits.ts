/** The current protocol version and the oldest supported one. */
export const PROTOCOL_VERSION = 3;
export const MIN_PROTOCOL_VERSION = 2;

/** Protocol limits, in bytes and milliseconds. */
export const PROTOCOL_LIMITS = {
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

/** WebSocket close codes by meaning. */
export const CLOSE_CODES = {
  normal: 1000,
  goingAway: 1001,
  protocolError: 1002,
  notUtf8: 1007,
  policy: 1008,
  tooBig: 1009,
  internal: 1011,
  noGateway: 1013,
  /** Closes a request's stream whose caller already received the whole response directly, without the host. */
  spliced: 4013,
  /** Closes the uplink when another host is about to connect (browsers cannot send 1012). */
  handingOver: 4012,
} as const;
