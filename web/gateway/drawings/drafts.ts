import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { EventPayload } from '#shared/rpc/events.ts';
import { DRAWING_LIMITS } from '#shared/rpc/methods/drawing-contracts.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Caller } from '../system/caller.ts';
import type { EventBus } from '../system/event-bus.ts';
import { Throttle } from '#shared/async/throttle.ts';

type Draft = EventPayload<'drawing.draft'>;

/** Minimum interval between two events about a shape in progress. */
const EMIT_INTERVAL_MS = 50;

/** Shapes that people are currently drawing. */
export class Drafts {
  readonly #hub: EventBus;
  /** The newest draft by connection and drawing. */
  readonly #open = new Map<string, Draft>();
  readonly #throttle: Throttle<string>;

  constructor({ hub, clock }: { hub: EventBus; clock: Clock }) {
    this.#hub = hub;
    this.#throttle = new Throttle(clock, EMIT_INTERVAL_MS, (names) => {
      for (const name of names) this.#emit(this.#open.get(name));
    });
  }

  stop(): void {
    this.#throttle.stop();
  }

  /** Throws `INVALID_PARAMS` for a shape that is too large to be shown while it is drawn. */
  update(drawingId: string, shape: Draft['shape'], { connId, signal }: Pick<Caller, 'connId' | 'signal'>): void {
    const name = `${connId} ${drawingId}`;
    const draft = { drawingId, from: connId, shape };
    if (shape === null) return this.#end(name, draft);
    if (JSON.stringify(shape).length > DRAWING_LIMITS.draftChars)
      throw new RpcError('INVALID_PARAMS', `\`shape\` must have at most ${DRAWING_LIMITS.draftChars} characters of JSON.`);
    if (!this.#open.has(name)) signal.addEventListener('abort', () => this.#end(name, { ...draft, shape: null }), { once: true });
    this.#open.set(name, draft);
    this.#throttle.add([name]);
  }

  #end(name: string, draft: Draft): void {
    if (this.#open.delete(name)) this.#emit(draft);
  }

  #emit(draft: Draft | undefined): void {
    if (draft) this.#hub.emitToOpen({ event: 'drawing.draft', payload: draft }, draft.drawingId, draft.from);
  }
}
