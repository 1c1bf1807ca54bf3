import type { ModelEvent, ModelMessage } from '../../providers/provider.ts';
import type { ProviderState } from '../../storage/records/provider-state.ts';

const MAX_TURNS = 500;
const MAX_CHARS = 8_000_000;

interface CachedTurn {
  state: ProviderState;
  chars: number;
}

/**
 * Keeps data that providers require back with a turn whose tools a client runs. The format has no field for it, so it is kept until the
 * client's next request, by the ids of the turn's calls; the oldest is dropped first.
 */
export class ProviderStateCache {
  readonly #turns = new Map<string, CachedTurn>();
  #chars = 0;

  /** Passes a provider's events on, and keeps the data that it requires back for `principal`. */
  async *recordFrom(principal: string, events: AsyncIterable<ModelEvent>): AsyncGenerator<ModelEvent> {
    const ids: string[] = [];
    let state: ProviderState | undefined;
    for await (const event of events) {
      if (event.type === 'tool_call') ids.push(event.call.id);
      else if (event.type === 'keep') state = event.kept;
      if (event.type === 'finish' && state && ids.length > 0) this.#store(principal, ids, state);
      yield event;
    }
  }

  /** The messages with the data kept for their turns. */
  restoreInto(principal: string, messages: ModelMessage[]): ModelMessage[] {
    return messages.map((message) => {
      const ids = (message.toolCalls ?? []).map(({ id }) => id);
      const turn = ids.length > 0 ? this.#turns.get(toTurnKey(principal, ids)) : undefined;
      return turn ? { ...message, kept: turn.state } : message;
    });
  }

  #store(principal: string, ids: string[], state: ProviderState): void {
    const key = toTurnKey(principal, ids);
    const chars = JSON.stringify(state.value).length;
    this.#remove(key);
    this.#turns.set(key, { state, chars });
    this.#chars += chars;
    for (const oldest of this.#turns.keys()) {
      if (this.#turns.size <= MAX_TURNS && this.#chars <= MAX_CHARS) break;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    this.#chars -= this.#turns.get(key)?.chars ?? 0;
    this.#turns.delete(key);
  }
}

const toTurnKey = (principal: string, ids: readonly string[]): string => JSON.stringify([principal, ...ids]);
