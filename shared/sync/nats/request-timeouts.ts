import { type NatsConnection, TimeoutError } from '@nats-io/nats-core';

/** Maximum wait for an answer behind other data. */
const MAX_WAIT_MS = 60_000;

/**
 * Extends the timeout of the connection's requests while the answer may be queued behind other data on a slow connection: until the data
 * that the server had to send by then has arrived. If nothing arrives at all, or not the answer, they fail with a `TimeoutError` as usual.
 */
export function extendRequestTimeouts(nc: NatsConnection): void {
  const request = nc.request.bind(nc);
  nc.request = (subject, payload, options) => {
    const { timeout = 1000 } = options ?? {};
    return waitBehindQueuedData(nc, request(subject, payload, { ...options, timeout: Math.max(timeout, MAX_WAIT_MS) }), timeout);
  };
}

function waitBehindQueuedData<T>(nc: NatsConnection, response: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const rejectAsTimeout = (): void => {
      clearInterval(timer);
      reject(new TimeoutError());
    };
    const rejectAfterDelivery = (): void => void setTimeout(rejectAsTimeout, 0);
    let receivedBytes = nc.stats().inBytes;
    let hasPinged = false;
    const timer = setInterval(() => {
      const { inBytes } = nc.stats();
      if (inBytes === receivedBytes) return rejectAsTimeout();
      receivedBytes = inBytes;
      // The server answers a ping after all earlier data; responses in that data are handled first.
      if (!hasPinged) nc.flush().then(rejectAfterDelivery, rejectAfterDelivery);
      hasPinged = true;
    }, ms);
    response.then(resolve, reject).finally(() => clearInterval(timer));
  });
}
