import type { DreamChange, DreamProposal, DreamRun, DreamSignal, ExamQuestionInfo } from '#shared/rpc/methods/dreaming-contracts.ts';
import type { MethodResult } from '#shared/rpc/methods/index.ts';
import type { DreamStatus, SignalState } from './types.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { announcer } from '#app/state/announcer.svelte.ts';
import { readSetting } from '#app/state/read-setting.ts';
import { toasts } from '#kit/toasts.svelte.ts';

/** Signals per page of the list. */
const PAGE_SIZE = 25;
/** Maximum number of changes shown. */
const MAX_CHANGES = 30;

/** Dreaming of one agent: proposals for review, signals, past runs, and settings. */
class Dreaming {
  agentId = $state('main');
  agents = $state.raw<{ id: string; name: string }[]>([]);
  /** Null before the first answer. */
  status = $state.raw<DreamStatus | null>(null);
  proposals = $state.raw<DreamProposal[] | null>(null);
  signals = $state.raw<DreamSignal[] | null>(null);
  total = $state(0);
  runs = $state.raw<DreamRun[] | null>(null);
  /** Changes that the exam has tried; those that wait for review first. */
  changes = $state.raw<DreamChange[] | null>(null);
  problem = $state<Problem | null>(null);
  /** Settings that were set, by name; all others have their defaults. */
  configured = $state.raw<Readonly<Record<string, unknown>>>({});
  query = $state('');
  state = $state<SignalState>('all');
  #visibleCount = PAGE_SIZE;
  #loadCount = 0;

  /** Loads everything, now and at each change. Returns a function that stops it. */
  watch(): () => void {
    void this.load();
    const stops = [
      gateway.on('dreaming.changed', ({ workspace, run }) => {
        if (this.status && workspace !== this.status.workspace) return;
        if (run?.state === 'completed') announcer.announce(m.dreaming_has_ended());
        if (run?.state === 'failed') announcer.announce(m.dreaming_has_failed());
        void this.load();
      }),
      gateway.on('config.changed', () => void this.load()),
      gateway.on('cron.changed', ({ jobId }) => void (jobId.startsWith('dreaming-') && this.load())),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  async load(): Promise<void> {
    const { agentId } = this;
    const loadId = ++this.#loadCount;
    try {
      const [status, review, signals, history, changes, agents, configured] = await Promise.all([
        gateway.call('dreaming.status', { agentId }),
        gateway.call('dreaming.review', { agentId }),
        gateway.call('dreaming.signals', { agentId, query: this.query, state: this.state, limit: this.#visibleCount }),
        gateway.call('dreaming.history', { agentId, limit: 20 }),
        gateway.call('dreaming.changes', { agentId, limit: MAX_CHANGES }),
        gateway.call('agents.list', {}),
        readSetting('dreaming'),
      ]);
      // A later load has begun.
      if (loadId !== this.#loadCount) return;
      this.status = status;
      this.proposals = review.proposals;
      this.signals = signals.signals;
      this.total = signals.total;
      this.runs = history.runs;
      this.changes = changes.changes.toSorted((a, b) => Number(b.state === 'proposed') - Number(a.state === 'proposed'));
      this.agents = agents.agents.map(({ id, config }) => ({ id, name: config.name ?? (id === 'main' ? m.dreaming_main_agent() : id) }));
      this.configured = typeof configured === 'object' ? { ...configured } : {};
      this.problem = null;
    } catch (error) {
      if (loadId === this.#loadCount && !isConnectionLost(error)) this.problem = toProblem(error, m.dreaming_doing_read());
    }
  }

  /** Shows the dreaming of another agent. */
  choose(agentId: string): void {
    this.agentId = agentId;
    this.status = null;
    this.proposals = this.signals = null;
    this.runs = this.changes = null;
    this.#visibleCount = PAGE_SIZE;
    void this.load();
  }

  search(query: string, state: SignalState): void {
    [this.query, this.state, this.#visibleCount] = [query, state, PAGE_SIZE];
    void this.load();
  }

  loadMore(): void {
    this.#visibleCount = Math.min(200, this.#visibleCount + PAGE_SIZE);
    void this.load();
  }

  /** Starts a run. This and the following methods reject if the gateway refuses. */
  async run(phase?: DreamRun['phases'][number]): Promise<void> {
    await gateway.call('dreaming.run', { agentId: this.agentId, ...(phase ? { phase } : {}) });
    announcer.announce(m.dreaming_has_begun());
    await this.load();
  }

  async accept({ contentHash }: DreamProposal, edited: { text?: string; category?: DreamProposal['category'] } = {}): Promise<void> {
    await gateway.call('dreaming.accept', { agentId: this.agentId, contentHash, ...edited });
    announcer.announce(m.dreaming_is_remembered());
    await this.load();
  }

  /** Rejects a proposal. Undo is offered for a short time. */
  async reject(proposal: DreamProposal, reason?: string): Promise<void> {
    const { agentId } = this;
    const { contentHash } = proposal;
    await gateway.call('dreaming.reject', { agentId, contentHash, ...(reason ? { reason } : {}) });
    announcer.announce(m.dreaming_rejected());
    const undo = (): void =>
      void gateway.call('dreaming.restore', { agentId, contentHash }).then(
        () => {
          announcer.announce(m.dreaming_waits_again());
          return this.load();
        },
        (error: unknown) => void (this.problem = toProblem(error, m.dreaming_doing_take_back())),
      );
    toasts.show(m.dreaming_rejected_text({ text: shorten(proposal.text) }), { action: { label: m.kit_undo(), run: undo } });
    await this.load();
  }

  async fetchQuestions(): Promise<ExamQuestionInfo[]> {
    return (await gateway.call('dreaming.exam', { agentId: this.agentId })).questions;
  }

  async applyChange({ id: changeId }: DreamChange): Promise<void> {
    await gateway.call('dreaming.applyChange', { agentId: this.agentId, changeId });
    announcer.announce(m.dreaming_change_was_applied());
    await this.load();
  }

  async undoChange({ id: changeId }: DreamChange): Promise<void> {
    await gateway.call('dreaming.undoChange', { agentId: this.agentId, changeId });
    announcer.announce(m.dreaming_change_was_undone());
    await this.load();
  }

  async dismissChange({ id: changeId }: DreamChange): Promise<void> {
    await gateway.call('dreaming.dismissChange', { agentId: this.agentId, changeId });
    announcer.announce(m.dreaming_change_was_dismissed());
    await this.load();
  }

  fetchReport(runId: string): Promise<MethodResult<'dreaming.report'>> {
    return gateway.call('dreaming.report', { agentId: this.agentId, runId });
  }

  async save(change: Record<string, unknown>): Promise<void> {
    await gateway.call('config.patch', { patch: { dreaming: change } });
    announcer.announce(m.dreaming_saved());
    await this.load();
  }

  /** Resets a setting to its default and offers Undo for a short time. */
  async reset(name: string, label: string): Promise<void> {
    const before = this.configured[name];
    await this.save({ [name]: null });
    const undo = (): void =>
      void this.save({ [name]: before }).catch((error: unknown) => (this.problem = toProblem(error, m.dreaming_doing_take_back())));
    toasts.show(m.dreaming_reset_done({ setting: label }), { action: { label: m.kit_undo(), run: undo } });
  }
}

const shorten = (text: string): string => (text.length > 60 ? `${text.slice(0, 57).trimEnd()}…` : text);

export const dreaming = new Dreaming();
