import type { FrameWatcher, GatewayClient } from '#shared/client/client.ts';
import type { EventName, EventPayload } from '#shared/rpc/events.ts';

type EventListenerFn = (payload: never) => void;

/** Event listeners, kept over reconnections. */
export class EventListeners {
  readonly #listeners = new Map<EventName, Set<EventListenerFn>>();
  readonly #watchers = new Map<FrameWatcher, () => void>();
  #client: GatewayClient | null = null;

  /** Adds a listener. Returns a function that removes it. */
  on<E extends EventName>(event: E, listener: (payload: EventPayload<E>) => void): () => void {
    let set = this.#listeners.get(event);
    if (!set) {
      this.#listeners.set(event, (set = new Set()));
      if (this.#client) this.#forward(this.#client, event);
    }
    set.add(listener as EventListenerFn);
    return () => void set.delete(listener as EventListenerFn);
  }

  /** Watches frames of the attached connection. Returns a function that stops it. */
  watch(watcher: FrameWatcher): () => void {
    this.#watchers.set(watcher, this.#client?.watch(watcher) ?? (() => {}));
    return () => {
      this.#watchers.get(watcher)?.();
      this.#watchers.delete(watcher);
    };
  }

  /** Receives events from this connection only. */
  attach(client: GatewayClient): void {
    this.#client = client;
    for (const [watcher, stop] of this.#watchers) {
      stop();
      this.#watchers.set(watcher, client.watch(watcher));
    }
    for (const event of this.#listeners.keys()) this.#forward(client, event);
  }

  #forward<E extends EventName>(client: GatewayClient, event: E): void {
    client.on(event, (payload) => {
      if (this.#client !== client) return;
      for (const listener of this.#listeners.get(event) ?? []) listener(payload as never);
    });
  }
}
