import { type NatsConnection, TimeoutError } from '@nats-io/nats-core';

/** Maximum wait for an answer behind other data. */
const MOST_MS = 60_000;

/**
 * Extends the timeout of the connection's requests while the answer may be queued behind other data on a slow connection: until the data
 * that the server had to send by then has arrived. If nothing arrives at all, or not the answer, they fail with a `TimeoutError` as usual.
 */
export function bePatient(nc: NatsConnection): void {
  const request = nc.request.bind(nc);
  nc.request = (subject, payload, options) => {
    const { timeout = 1000 } = options ?? {};
    return behind(nc, request(subject, payload, { ...options, timeout: Math.max(timeout, MOST_MS) }), timeout);
  };
}

function behind<T>(nc: NatsConnection, answer: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = (): void => {
      clearInterval(timer);
      reject(new TimeoutError());
    };
    const lately = (): void => void setTimeout(late, 0);
    let before = nc.stats().inBytes;
    let isCounted = false;
    const timer = setInterval(() => {
      const { inBytes } = nc.stats();
      if (inBytes === before) return late();
      before = inBytes;
      // The server answers a ping behind everything that it had to send before; what came with that is heard first.
      if (!isCounted) nc.flush().then(lately, lately);
      isCounted = true;
    }, ms);
    answer.then(resolve, reject).finally(() => clearInterval(timer));
  });
}
