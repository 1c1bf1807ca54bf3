import type { AnyEvent } from '#shared/rpc/events.ts';

/** Somebody who gets events: a connection. */
export interface Subscriber {
  /** Everything (the app), or only what concerns sessions that it follows. */
  readonly all: boolean;
  /** Whether the subscriber’s scopes let it receive an event that it has not asked for by following a session. */
  mayHear?(event: AnyEvent): boolean;
  follows(sessionKey: string): boolean;
  /** A connection's. */
  readonly id?: string;
  /** Whether it has a drawing open. */
  hasOpen?(drawingId: string): boolean;
  push(event: AnyEvent): void;
  /** Resolves when it is ready for more events; undefined if it is now. */
  ready?(): Promise<void> | undefined;
}

/** Hands events to the connections that they concern (decisions, "Which events a connection gets"). */
export class Hub {
  readonly #subscribers = new Set<Subscriber>();

  get size(): number {
    return this.#subscribers.size;
  }

  add(subscriber: Subscriber): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  /** `sessionKey` null: of no session, for those who subscribed to everything. `connId`: the connection that caused it, which is told anyhow. */
  emit(event: AnyEvent, sessionKey: string | null, connId?: string): void {
    for (const subscriber of this.#subscribers) {
      const concerned = (sessionKey !== null && subscriber.follows(sessionKey)) || (connId !== undefined && subscriber.id === connId);
      if (concerned || (subscriber.all && mayHear(subscriber, event))) subscriber.push(event);
    }
  }

  /** Resolves when those who get a session's events are ready for more; undefined if all are now. */
  ready(sessionKey: string): Promise<unknown> | undefined {
    let waits: Promise<void>[] | undefined;
    for (const subscriber of this.#subscribers) {
      const wait = subscriber.all || subscriber.follows(sessionKey) ? subscriber.ready?.() : undefined;
      if (wait) (waits ??= []).push(wait);
    }
    return waits && Promise.all(waits);
  }

  /** To those who have a drawing open; not to `except`, who did it. */
  tellOpen(event: AnyEvent, drawingId: string, except?: string): void {
    for (const subscriber of this.#subscribers) if (subscriber.hasOpen?.(drawingId) && subscriber.id !== except) subscriber.push(event);
  }

  /** Whether anybody has it open. */
  isOpen(drawingId: string): boolean {
    return [...this.#subscribers].some((subscriber) => subscriber.hasOpen?.(drawingId));
  }

  /** To every connection whose scopes allow it, whatever it follows. */
  broadcast(event: AnyEvent): void {
    for (const subscriber of this.#subscribers) if (mayHear(subscriber, event)) subscriber.push(event);
  }
}

const mayHear = (subscriber: Subscriber, event: AnyEvent): boolean => subscriber.mayHear?.(event) ?? true;
