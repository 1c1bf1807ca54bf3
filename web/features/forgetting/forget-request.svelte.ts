import { SvelteSet } from 'svelte/reactivity';
import type { ForgetPiece, ForgetReport } from '#shared/rpc/methods/forgetting-contracts.ts';
import type { MethodResult } from '#shared/rpc/methods/index.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { Action } from '#kit/action.svelte.ts';

/** Finds what is stored about a memory or some words, and forgets what a person chooses. */
export class ForgetRequest {
  query = $state('');
  preview = $state.raw<MethodResult<'forgetting.preview'> | null>(null);
  report = $state.raw<ForgetReport | null>(null);
  /** Reports of what was forgotten before. */
  past = $state.raw<readonly ForgetReport[]>([]);
  readonly chosen = new SvelteSet<string>();
  readonly finding = new Action();
  readonly applying = new Action();
  readonly #agentId: string;
  readonly #memoryId: string | undefined;
  /** Whether the person enters the words. */
  readonly needsQuery: boolean;

  /** Pieces by kind, in the order in which they were found. */
  readonly groups = $derived([...Map.groupBy(this.preview?.pieces ?? [], ({ kind }) => kind)].map(([kind, pieces]) => ({ kind, pieces })));

  /** `memoryId`: the memory to forget; `query`: words to look for at once. */
  constructor(agentId: string, { memoryId, query }: { memoryId?: string | undefined; query?: string } = {}) {
    this.#agentId = agentId;
    this.#memoryId = memoryId;
    this.needsQuery = memoryId === undefined && query === undefined;
    this.query = query ?? '';
    if (this.needsQuery) void this.#loadPast();
    else void this.find();
  }

  find(): Promise<void> {
    return this.finding.run(m.forgetting_doing_find(), async () => {
      this.preview = null;
      const preview = await gateway.call('forgetting.preview', this.#target);
      this.chosen.clear();
      for (const { id, selected } of preview.pieces) if (selected) this.chosen.add(id);
      this.preview = preview;
    });
  }

  apply(): Promise<void> {
    return this.applying.run(m.forgetting_doing_apply(), async () => {
      const { report } = await gateway.call('forgetting.apply', { ...this.#target, pieceIds: [...this.chosen] });
      this.report = report;
    });
  }

  toggle({ id }: ForgetPiece): void {
    if (!this.chosen.delete(id)) this.chosen.add(id);
  }

  /** Chooses all pieces of a group, or none if all of them are chosen. */
  toggleAll(pieces: readonly ForgetPiece[]): void {
    const isAll = pieces.every(({ id }) => this.chosen.has(id));
    for (const { id } of pieces) {
      if (isAll) this.chosen.delete(id);
      else this.chosen.add(id);
    }
  }

  get #target() {
    return { agentId: this.#agentId, ...(this.#memoryId === undefined ? { query: this.query.trim() } : { memoryId: this.#memoryId }) };
  }

  /** Best effort: the dialog works without it. */
  async #loadPast(): Promise<void> {
    try {
      this.past = (await gateway.call('forgetting.list', {})).reports;
    } catch {
      this.past = [];
    }
  }
}
