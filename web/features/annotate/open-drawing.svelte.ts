import type { Change } from '#shared/canvas/change.ts';
import { Drawing } from '#shared/canvas/drawing.ts';
import type { Shape } from '#shared/canvas/shape-fields.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { ChangeQueue } from './change-queue.ts';
import { createChangeStore } from './change-store.ts';

/**
 * Interval in milliseconds at which a stroke in progress is broadcast: a connection may make 600 calls a minute, and shapes must be saved
 * too.
 */
const DRAFT_INTERVAL_MS = 200;

/**
 * A drawing of the gateway that is open in this page: sends local changes at once and applies those of others. It works offline: all
 * changes are sent after reconnecting, or on a later visit.
 */
export class OpenDrawing {
  readonly id: string;
  /** Undefined until the gateway has answered for the first time. */
  drawing = $state.raw<Drawing>();
  title = $state('');
  /** `gone`: it does not exist or was deleted. */
  phase = $state<'opening' | 'open' | 'gone'>('opening');
  /** Why it could not be opened. */
  problem = $state<Problem | null>(null);
  saving = $state<'saved' | 'saving' | 'offline' | 'failed'>('saved');
  /** Why changes are not saved. */
  saveProblem = $state<Problem | null>(null);
  /** Called with strokes of others in progress; undefined when one has ended. */
  onDraft: ((sender: string, shape: Shape | undefined) => void) | undefined;

  readonly #store: ReturnType<typeof createChangeStore>;
  readonly #queue: ChangeQueue;
  /** Changes that arrived before the drawing itself. */
  #earlyChanges: Change[] = [];
  #unsubscribers: (() => void)[] = [];
  #draft: { shape: Shape | null; timer: ReturnType<typeof setTimeout> } | undefined;

  constructor(id: string) {
    this.id = id;
    this.#store = createChangeStore(id);
    this.#queue = new ChangeQueue({
      send: (changes) => gateway.call('drawings.change', { drawingId: id, changes: [...changes] }),
      store: this.#store,
      onState: ({ waiting, error }) => this.#onQueueState(waiting, error),
    });
  }

  /** Follows the drawing until `close`. */
  subscribe(): void {
    this.#unsubscribers = [
      gateway.on('drawing.changed', ({ drawingId, changes, reopen }) => {
        if (drawingId !== this.id) return;
        if (reopen) void this.open();
        else if (this.drawing) this.drawing.merge(changes);
        else this.#earlyChanges.push(...changes);
      }),
      gateway.on('drawing.draft', ({ drawingId, from, shape }) => {
        if (drawingId === this.id) this.onDraft?.(from, shape ?? undefined);
      }),
      gateway.on('drawings.changed', ({ drawingId, deleted }) => {
        if (drawingId !== this.id) return;
        if (deleted) this.phase = 'gone';
        else void this.#readTitle();
      }),
    ];
  }

  /** Loads it, also after a reconnect, and sends queued changes. */
  async open(): Promise<void> {
    try {
      const { drawing: info, changes } = await gateway.call('drawings.open', { drawingId: this.id });
      this.title = info.title;
      this.problem = null;
      const drawing = this.drawing ?? (await this.#applySnapshot(info, changes));
      drawing.merge(changes);
      this.drawing = drawing;
      this.phase = 'open';
      this.#queue.flush();
    } catch (error) {
      if (error instanceof RpcError && error.code === 'NOT_FOUND') this.phase = 'gone';
      else if (!isConnectionLost(error)) this.problem = toProblem(error, m.annotate_doing_open());
    }
  }

  retrySaving(): void {
    this.#queue.flush();
  }

  async rename(title: string): Promise<void> {
    const before = this.title;
    this.title = title;
    try {
      await gateway.call('drawings.rename', { drawingId: this.id, title });
    } catch (error) {
      this.title = before;
      throw error;
    }
  }

  /** Shows others a stroke in progress; undefined once it has ended. */
  sendDraft(shape: Shape | undefined): void {
    if (this.#draft) {
      this.#draft.shape = shape ?? null;
      return;
    }
    this.#broadcastDraft(shape ?? null);
    this.#draft = { shape: shape ?? null, timer: setTimeout(() => this.#scheduleDraft(shape ?? null), DRAFT_INTERVAL_MS) };
  }

  close(): void {
    for (const stop of this.#unsubscribers.splice(0)) stop();
    clearTimeout(this.#draft?.timer);
    // The queue lives on and sends changes that are still unsent.
    if (gateway.state === 'online') gateway.call('drawings.close', { drawingId: this.id }).catch(() => {});
  }

  async #applySnapshot(info: { width: number; height: number; background: string | null }, changes: Change[]): Promise<Drawing> {
    const { width, height, background } = info;
    const drawing = new Drawing({ width, height, background });
    drawing.merge(changes);
    drawing.merge(this.#earlyChanges.splice(0));
    for (const { changes: storedChanges, forget } of await this.#store.readLeftover().catch(() => [])) {
      drawing.merge(storedChanges);
      this.#queue.addStored(storedChanges, forget);
    }
    drawing.onChange(({ changes: newChanges, own }) => own && this.#queue.add(newChanges));
    return drawing;
  }

  #onQueueState(waiting: number, error: unknown): void {
    if (error === undefined) {
      this.saving = waiting > 0 ? 'saving' : 'saved';
      this.saveProblem = null;
    } else if (error instanceof RpcError && error.extra.retryable) this.saving = 'saving';
    else if (isConnectionLost(error)) this.saving = 'offline';
    else {
      this.saving = 'failed';
      this.saveProblem = toProblem(error, m.annotate_doing_save());
    }
  }

  #broadcastDraft(shape: Shape | null): void {
    if (gateway.state === 'online') gateway.call('drawings.draft', { drawingId: this.id, shape }).catch(() => {});
  }

  #scheduleDraft(lastShape: Shape | null): void {
    const last = this.#draft?.shape ?? null;
    this.#draft = undefined;
    if (last !== lastShape) this.sendDraft(last ?? undefined);
  }

  async #readTitle(): Promise<void> {
    const { drawings } = await gateway.call('drawings.list', {}).catch(() => ({ drawings: [] }));
    this.title = drawings.find(({ id }) => id === this.id)?.title ?? this.title;
  }
}
