/** The bridge's waits, in milliseconds. Tests shorten some; nobody else should. */
export const TIMING = {
  /** From a socket's opening to its `connect` (decisions, "Frames and connection"). */
  connectMs: 15_000,
  /** For the whole head of an HTTP request. */
  headMs: 15_000,
  /** For a whole HTTP request with its body. */
  requestMs: 300_000,
  /** The longest that a client waits while a host starts or hands over (decisions, "Frames and connection"). */
  hostWaitMs: 15_000,
  /** For each step of a host's attaching. */
  handshakeMs: 10_000,
  /** Between a host's heartbeats, and for each answer. */
  heartbeatMs: 5_000,
  /** For the holder to show that it lives when another host could serve as well. */
  aliveMs: 1_000,
  /** A host that left counts as there for so long, and every host after the bridge's own start, when a lease is asked for. */
  presenceMs: 15_000,
  /** A client whose socket takes nothing for so long, with bytes waiting, is closed. */
  stallMs: 30_000,
  /** For the other side to answer a WebSocket's close before the socket is cut. */
  closeMs: 2_000,
  /** Between looks at the password's file, while somebody is connected by it. */
  passwordMs: 2_000,
  /** Until what calls have used is told again to a host that did not take it. */
  receiptsMs: 5_000,
  /** For requests under way when the bridge closes. */
  graceMs: 1_500,
};
export type Timing = typeof TIMING;
