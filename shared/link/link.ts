import { CLOSE_CODES } from '../rpc/limits.ts';

/** Events of one end of a link. Set once, before the first message can arrive. */
export interface LinkEvents<M> {
  message(message: M): void;
  /** The other end has closed or disappeared. No event follows. */
  close(code: number, reason: string): void;
  /** `buffered` has returned to 0. */
  drain?(): void;
  /** Only for a `MovableLink`, after `leave`: everything that the other side sent has been delivered. */
  left?(): void;
}

/** An ordered, reliable message channel: a WebSocket, a MessagePort, a multiplexed stream, or in memory. */
export interface Link<M> {
  /** Queues a message. Does nothing after close. */
  send(message: M): void;
  /** Bytes accepted by `send` that the transport has not taken yet; 0 if unknown. */
  readonly buffered: number;
  close(code?: number, reason?: string): void;
  receive(events: LinkEvents<M>): void;
}

/** A link whose client can be moved to another host without reconnecting (docs/decisions/0010-hand-over.md). */
export interface MovableLink extends Link<string> {
  /** Asks the other side to hold back further messages of the client. `left` is called when it does. */
  leave(): void;
  /** Ends the link and passes the client's state to the next host. */
  move(state: string): void;
}

/** Creates two connected links in memory. Messages arrive asynchronously and in order, as over a real transport. */
export function memoryPair<M>(): [Link<M>, Link<M>] {
  const a = new MemoryEnd<M>();
  const b = new MemoryEnd<M>();
  a.peer = b;
  b.peer = a;
  return [a, b];
}

class MemoryEnd<M> implements Link<M> {
  peer!: MemoryEnd<M>;
  readonly buffered = 0;
  #events: LinkEvents<M> | undefined;
  #earlyEvents: (() => void)[] = [];
  #open = true;

  send(message: M): void {
    if (this.#open) this.peer.#deliver((events) => events.message(message));
  }

  close(code = 1000, reason = ''): void {
    if (!this.#open) return;
    this.#open = false;
    this.peer.#deliver((events) => {
      this.peer.#open = false;
      events.close(code, reason);
    });
    this.#deliver((events) => events.close(code, reason), true);
  }

  receive(events: LinkEvents<M>): void {
    this.#events = events;
    for (const run of this.#earlyEvents.splice(0)) run();
  }

  #deliver(notify: (events: LinkEvents<M>) => void, evenClosed = false): void {
    queueMicrotask(() => {
      const run = (): void => {
        if (this.#events && (this.#open || evenClosed)) notify(this.#events);
      };
      if (this.#events) run();
      else this.#earlyEvents.push(run);
    });
  }
}

type PortMessage<M> = { m: M } | { close: { code: number; reason: string } };

/**
 * A MessagePort as a link. A port does not report when its other end dies: hold a Web Lock to detect it. Closing sends a final message, so
 * that an orderly close is reported.
 */
export function portLink<M>(port: MessagePort): Link<M> {
  let events: LinkEvents<M> | undefined;
  let ended: { code: number; reason: string } | undefined;
  const end = (code: number, reason: string): void => {
    if (ended) return;
    ended = { code, reason };
    port.close();
    events?.close(code, reason);
  };
  return {
    buffered: 0,
    send(message) {
      if (!ended) port.postMessage({ m: message } satisfies PortMessage<M>);
    },
    close(code = 1000, reason = '') {
      if (ended) return;
      port.postMessage({ close: { code, reason } } satisfies PortMessage<M>);
      end(code, reason);
    },
    receive(listener) {
      if (ended) return listener.close(ended.code, ended.reason);
      events = listener;
      port.onmessage = ({ data }: MessageEvent<PortMessage<M>>) => {
        if (ended) return;
        if ('close' in data) end(data.close.code, data.close.reason);
        else listener.message(data.m);
      };
      // An unreadable message is lost, and a link must not lose messages silently.
      port.onmessageerror = () => end(CLOSE_CODES.protocolError, 'a message could not be read');
    },
  };
}
