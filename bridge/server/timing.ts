/** Timeouts and intervals of the bridge, in milliseconds. Only tests may shorten them. */
export const TIMING = {
  /** From a socket's opening to its `connect`. */
  connectMs: 15_000,
  /** For the complete head of an HTTP request. */
  headMs: 15_000,
  /** For a complete HTTP request with its body. */
  requestMs: 300_000,
  /** Maximum time that a client waits while a host starts or hands over. */
  hostWaitMs: 15_000,
  /** For each step of attaching a host. */
  handshakeMs: 10_000,
  /** Between a host's heartbeats, and for each answer. */
  heartbeatMs: 5_000,
  /** For the active host to answer when another host could be active as well. */
  aliveMs: 1_000,
  /** How long a host that left still counts as present for leases; also for every host after the bridge's own start. */
  presenceMs: 15_000,
  /** How long a client's socket may take nothing while bytes are waiting, before it is closed. */
  stallMs: 30_000,
  /** For the peer to answer a WebSocket close before the socket is terminated. */
  closeMs: 2_000,
  /** Between checks of the password file while a client is connected with the password. */
  passwordMs: 2_000,
  /** Until usage is sent again to a host that did not take it. */
  receiptsMs: 5_000,
  /** For requests in progress when the bridge closes. */
  graceMs: 1_500,
};
export type Timing = typeof TIMING;
