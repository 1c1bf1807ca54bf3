import type { AnyEvent } from '#shared/rpc/events.ts';

/** A receiver of events: a connection. */
export interface Subscriber {
  /** Whether it receives everything (the app), or only events of sessions that it follows. */
  readonly all: boolean;
  /** Whether the subscriber’s scopes allow an event that it has not asked for by following a session. */
  canReceive?(event: AnyEvent): boolean;
  follows(sessionKey: string): boolean;
  /** Id of the connection. */
  readonly id?: string;
  /** Whether it has a drawing open. */
  hasOpen?(drawingId: string): boolean;
  push(event: AnyEvent): void;
  /** Resolves when it is ready for more events; undefined if it is now. */
  ready?(): Promise<void> | undefined;
}

/** Delivers events to the connections that they concern. */
export class EventBus {
  readonly #subscribers = new Set<Subscriber>();

  get size(): number {
    return this.#subscribers.size;
  }

  add(subscriber: Subscriber): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  /**
   * Emits an event. `sessionKey`: null for an event of no session, which goes to subscribers of everything. `connId`: the connection that
   * caused it, which always receives it.
   */
  emit(event: AnyEvent, sessionKey: string | null, connId?: string): void {
    for (const subscriber of this.#subscribers) {
      const concerned = (sessionKey !== null && subscriber.follows(sessionKey)) || (connId !== undefined && subscriber.id === connId);
      if (concerned || (subscriber.all && canReceive(subscriber, event))) subscriber.push(event);
    }
  }

  /** Resolves when all receivers of a session's events are ready for more; undefined if they are now. */
  ready(sessionKey: string): Promise<unknown> | undefined {
    let waits: Promise<void>[] | undefined;
    for (const subscriber of this.#subscribers) {
      const wait = subscriber.all || subscriber.follows(sessionKey) ? subscriber.ready?.() : undefined;
      if (wait) (waits ??= []).push(wait);
    }
    return waits && Promise.all(waits);
  }

  /** Sends an event to all subscribers that have a drawing open, except for `except`, which caused it. */
  emitToOpen(event: AnyEvent, drawingId: string, except?: string): void {
    for (const subscriber of this.#subscribers) if (subscriber.hasOpen?.(drawingId) && subscriber.id !== except) subscriber.push(event);
  }

  /** Whether any subscriber has a drawing open. */
  isOpen(drawingId: string): boolean {
    return [...this.#subscribers].some((subscriber) => subscriber.hasOpen?.(drawingId));
  }

  /** Sends an event to every connection whose scopes allow it, whatever it follows. */
  broadcast(event: AnyEvent): void {
    for (const subscriber of this.#subscribers) if (canReceive(subscriber, event)) subscriber.push(event);
  }
}

const canReceive = (subscriber: Subscriber, event: AnyEvent): boolean => subscriber.canReceive?.(event) ?? true;
