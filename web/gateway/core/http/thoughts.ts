import type { Kept, ModelEvent, ModelMessage } from '../providers/provider.ts';

const MOST = 500;
const MOST_CHARS = 8_000_000;

interface Turn {
  kept: Kept;
  chars: number;
}

/**
 * Keeps data that providers require back with a turn whose tools a client runs. The format has no field for it, so it is kept until the
 * client's next request, by the ids of the turn's calls; the oldest is dropped first.
 */
export class Thoughts {
  readonly #turns = new Map<string, Turn>();
  #chars = 0;

  /** Passes a provider's events on, and keeps the data that it requires back for `principal`. */
  async *noting(principal: string, events: AsyncIterable<ModelEvent>): AsyncGenerator<ModelEvent> {
    const ids: string[] = [];
    let kept: Kept | undefined;
    for await (const event of events) {
      if (event.type === 'tool_call') ids.push(event.call.id);
      else if (event.type === 'keep') kept = event.kept;
      if (event.type === 'finish' && kept && ids.length > 0) this.#keep(principal, ids, kept);
      yield event;
    }
  }

  /** The messages with the data kept for their turns. */
  restored(principal: string, messages: ModelMessage[]): ModelMessage[] {
    return messages.map((message) => {
      const ids = (message.toolCalls ?? []).map(({ id }) => id);
      const turn = ids.length > 0 ? this.#turns.get(keyOf(principal, ids)) : undefined;
      return turn ? { ...message, kept: turn.kept } : message;
    });
  }

  #keep(principal: string, ids: string[], kept: Kept): void {
    const key = keyOf(principal, ids);
    const chars = JSON.stringify(kept.value).length;
    this.#forget(key);
    this.#turns.set(key, { kept, chars });
    this.#chars += chars;
    for (const oldest of this.#turns.keys()) {
      if (this.#turns.size <= MOST && this.#chars <= MOST_CHARS) break;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    this.#chars -= this.#turns.get(key)?.chars ?? 0;
    this.#turns.delete(key);
  }
}

const keyOf = (principal: string, ids: readonly string[]): string => JSON.stringify([principal, ...ids]);
