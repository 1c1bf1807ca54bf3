import { RpcError } from '#shared/rpc/rpc-error.ts';
import {
  DREAM_PHASES,
  type DreamProposal,
  type DreamChange,
  type DreamRun,
  type DreamSignal,
} from '#shared/rpc/methods/dreaming-contracts.ts';
import type { MethodParsed, MethodResult } from '#shared/rpc/methods/index.ts';
import { type Agent, type Agents, getWorkspaceName } from '../../agents.ts';
import { toCanonicalJson } from '#shared/canonical-json.ts';
import { type CompletionDeps, getAgentModels } from '../../compaction/model-completion.ts';
import type { Clock } from '#shared/async/clock.ts';
import { DreamingConfig } from '../../../knowledge/dreaming/dreaming-config.ts';
import type { MemoryChange } from '../../../knowledge/dreaming/exam/memory-change.ts';
import { DreamingPhases } from '../../../knowledge/dreaming/dreaming-phases.ts';
import { toMemoryText } from '../../../knowledge/dreaming/promoter.ts';
import type { Promotion } from '../../../knowledge/dreaming/promotion-log.ts';
import type { DreamingPhase } from '../../../knowledge/dreaming/phase-report.ts';
import { ReviewError } from '../../../knowledge/dreaming/review-queue.ts';
import { toMemoryId } from '../../../knowledge/memory/index/index-entry.ts';
import type { EventBus } from '../../../system/event-bus.ts';
import type { Workspace } from '../../../knowledge/memory/workspace.ts';
import type { Settings } from '../../../config/settings-schema.ts';
import type { SyncPort } from '../../../sync/sync-port.ts';
import type { Vault } from '../../../storage/vault-interface.ts';
import type { ContentLabels } from '../../trust/content-labels.ts';
import { createQuestionWriter } from './question-writer.ts';
import type { Lazy } from '../../../system/modules.ts';
import type { Provenance } from '../provenance/provenance.ts';
import { recordChanges } from '../provenance/record-changes.ts';
import { recordDreams } from '../provenance/record-dreams.ts';
import { runDreaming } from './run-dreaming.ts';
import { createPace } from './pace.ts';
import { collectRecalls } from './recall-signals.ts';
import { RunLog } from './run-log.ts';
import { listOwnMemoryChats } from '../../projects/memory-chats.ts';
import { createSessionFilter } from './session-filter.ts';
import { inheritRecalls } from '../../../knowledge/dreaming/inherited-recalls.ts';
import type { Pace } from '../../../knowledge/dreaming/pace.ts';
import { PromotionScorer } from '../../../knowledge/dreaming/promotion-scorer.ts';
import { getQueries } from '../../../knowledge/dreaming/score-components.ts';
import { DAY_MS, getLastActive, normalizeText, type ShortTermSignal } from '../../../knowledge/dreaming/signal.ts';
import type { Narrate } from '../../../knowledge/dreaming/rem-phase.ts';

/** Name under which these calls appear in the usage. */
const DREAMING_PRINCIPAL = 'dreaming';

/** Maximum number of tokens of a narrative. */
const MAX_NARRATIVE_TOKENS = 4000;

interface ListSignalsDeps {
  signals: readonly ShortTermSignal[];
  promotions: ReadonlyMap<string, Promotion>;
  config: DreamingConfig;
  now: number;
  pace: Pace;
}

export interface DreamerDeps extends CompletionDeps {
  vault: Pick<Vault, 'messages' | 'sessions' | 'collection' | 'usage' | 'origin'>;
  hub: Pick<EventBus, 'emit'>;
  clock: Clock;
  sync: SyncPort | undefined;
  labels: Pick<ContentLabels, 'list'>;
  agents: Agents;
  settings(): Settings;
  /** The configured time zone. */
  timeZone(): string;
  /** Opens the workspace of an agent's memory. */
  openWorkspace(agentId: string): Promise<Workspace>;
  provenance: Lazy<Provenance>;
  fault(error: unknown): RpcError;
}

/** A workspace that dreams. */
interface DreamWorkspace {
  name: string;
  workspace: Workspace;
  log: RunLog;
  /** Recreated if the settings have changed. */
  phases?: { settings: string; phases: DreamingPhases; config: DreamingConfig };
  /** The active run. */
  active?: { run: DreamRun; done: Promise<unknown> } | undefined;
}

/** Maximum time in milliseconds for which other hosts are kept from dreaming in the same workspace. */
const LEASE_MS = 15 * 60_000;

/** Consolidates the memories of agents, on schedule or on request. At most one run per workspace is active at a time. */
export class Dreamer {
  readonly #deps: DreamerDeps;
  readonly #workspaces = new Map<string, Promise<DreamWorkspace>>();

  constructor(deps: DreamerDeps) {
    this.#deps = deps;
  }

  /** Rejects with `NOT_FOUND` if the agent does not exist. */
  async openWorkspace(agentId: string): Promise<DreamWorkspace> {
    const { agents, vault, openWorkspace: open } = this.#deps;
    const name = getWorkspaceName(agents.get(agentId));
    let opening = this.#workspaces.get(name);
    if (!opening) {
      // One object per workspace: runs are serialized by it.
      opening = open(agentId).then((workspace) => ({ name, workspace, log: new RunLog(workspace, vault.origin) }));
      this.#workspaces.set(name, opening);
      opening.catch(() => this.#workspaces.delete(name));
    }
    return opening;
  }

  /** The settings in the form of the library. The schedule is validated elsewhere. */
  getConfig(): DreamingConfig {
    const { cron: _, enabled: __, timezone, ...rest } = this.#deps.settings().dreaming;
    return new DreamingConfig({ ...rest, timezone: timezone ?? this.#deps.timeZone() });
  }

  /** For queries and for decisions of the user. */
  getPhases(target: DreamWorkspace): { phases: DreamingPhases; config: DreamingConfig } {
    const config = this.getConfig();
    const settings = toCanonicalJson({ ...config });
    if (target.phases?.settings !== settings) {
      const phases = new DreamingPhases(target.workspace, config, { now: () => this.#deps.clock.now(), pace: createPace() });
      target.phases = { settings, phases, config };
    }
    return target.phases;
  }

  async listRuns(
    target: DreamWorkspace,
    limit: number,
  ): Promise<{ runs: DreamRun[]; problems: { path: string; line: number; why: string }[] }> {
    const { runs, broken } = await target.log.list(this.#deps.clock.now(), (id) => target.active?.run.id === id);
    return { runs: runs.slice(0, limit), problems: broken };
  }

  /** Starts a run at once. Throws `ALREADY_EXISTS` if another one is active, here or on another host. */
  async start(
    agentId: string,
    phases: readonly DreamingPhase[],
    trigger: DreamRun['by'] = 'person',
  ): Promise<{ run: DreamRun; done: Promise<DreamRun> }> {
    const { clock, agents } = this.#deps;
    const target = await this.openWorkspace(agentId);
    if (target.active) throw createRunningError();
    const run: DreamRun = {
      id: crypto.randomUUID(),
      by: trigger,
      phases: DREAM_PHASES.filter((phase) => phases.includes(phase)),
      state: 'running',
      phase: null,
      startedAt: clock.now(),
      finishedAt: null,
      problems: [],
    };
    const begun = Promise.withResolvers<void>();
    const done = this.#run(target, agents.get(agentId), run, () => begun.resolve());
    const active = { run, done };
    target.active = active;
    const end = (): void => {
      if (target.active === active) target.active = undefined;
    };
    done.then(end, end);
    // An error before the start goes to the caller; a later one is recorded in the history.
    await Promise.race([begun.promise, done]);
    return { run, done };
  }

  /** Runs all phases for a scheduled tick, after the active run if there is one. */
  async runScheduled(agentId: string): Promise<void> {
    const target = await this.openWorkspace(agentId);
    while (target.active) await target.active.done.catch(() => {});
    await (
      await this.start(agentId, DREAM_PHASES, 'schedule')
    ).done;
  }

  async #run(target: DreamWorkspace, agent: Agent, run: DreamRun, begun: () => void): Promise<DreamRun> {
    const { clock, vault, agents, settings, sync } = this.#deps;
    const { workspace, name, log } = target;
    const lease = `dreaming:${name}`;
    const shared = sync?.state().state === 'synced';
    const fence = shared ? await sync.lease(lease, LEASE_MS) : null;
    if (shared && fence === null) throw createRunningError();
    try {
      const narrate = await createNarrator(agent, this.#deps).catch((error: unknown) => () => Promise.reject(this.#deps.fault(error)));
      const { recall } = settings().memory;
      const pace = createPace();
      const config = this.getConfig();
      const now = (): number => clock.now();
      const phases = new DreamingPhases(workspace, config, {
        now,
        pace,
        recall,
        listUntrusted: () => this.#listUntrusted(name),
        ...(narrate && { narrate, writeQuestions: createQuestionWriter(narrate) }),
      });
      const includesSession = createSessionFilter(name, agents, settings(), await listOwnMemoryChats(vault));
      const { maxAgeDays } = config;
      const provenance = await this.#deps.provenance.load();
      return await runDreaming(run, {
        phases,
        log,
        collectRecalls: () =>
          collectRecalls({ messages: vault.messages, workspace, signals: phases.signals, includesSession, maxAgeDays, now, pace }),
        now,
        recordOrigins: async ({ rem }) => {
          await recordDreams({ provenance, workspace, name }, { reportPath: rem?.path });
          const applied = (await phases.changes.history()).filter(({ state }) => state === 'applied');
          await recordChanges({ provenance, workspace, name }, applied.reverse());
        },
        onChange: (run) => {
          if (target.active?.run.id === run.id) target.active.run = run;
          this.#emitChange(name, run);
          begun();
        },
      });
    } finally {
      if (sync && fence !== null) await sync.release(lease, fence);
    }
  }

  /** Applies a user's decision on a suggestion, with its origin, and announces it. */
  async decideProposal(agentId: string, act: (phases: DreamingPhases) => Promise<Promotion>): Promise<DreamProposal> {
    const target = await this.openWorkspace(agentId);
    // The change is announced when its origin is stored, shortly before the response.
    const promotion = await this.decide(agentId, async (phases) => {
      const decided = await act(phases);
      const by = decided.text === undefined ? 'dreaming' : 'person';
      await recordDreams({ provenance: await this.#deps.provenance.load(), ...target }, { by, only: decided.contentHash });
      return decided;
    });
    return toProposal(promotion);
  }

  /** Applies a user's decision on a change of memory, with its origin, and announces it. */
  async decideChange(agentId: string, act: (phases: DreamingPhases) => Promise<MemoryChange>): Promise<DreamChange> {
    const target = await this.openWorkspace(agentId);
    return this.decide(agentId, async (phases) => {
      const decided = await act(phases);
      await recordChanges({ provenance: await this.#deps.provenance.load(), ...target }, [decided]);
      return toChangeView(decided);
    });
  }

  /** Applies a user's decision and announces it. */
  async decide<Decided>(agentId: string, act: (phases: DreamingPhases) => Promise<Decided>): Promise<Decided> {
    const target = await this.openWorkspace(agentId);
    try {
      const decided = await act(this.getPhases(target).phases);
      this.#emitChange(target.name, null);
      return decided;
    } catch (error) {
      if (!(error instanceof ReviewError)) throw error;
      const code = { absent: 'NOT_FOUND', settled: 'ALREADY_EXISTS', unfit: 'INVALID_PARAMS' } as const;
      throw new RpcError(code[error.kind], error.message);
    }
  }

  async listSignals({ agentId, ...filters }: MethodParsed<'dreaming.signals'>): Promise<MethodResult<'dreaming.signals'>> {
    const target = await this.openWorkspace(agentId);
    const { phases, config } = this.getPhases(target);
    const [signals, settled] = await Promise.all([phases.signals.getAllSignals(), phases.review.history()]);
    const promotions = new Map(settled.map((each) => [each.contentHash, each]));
    const now = this.#deps.clock.now();
    const found = await listSignals({ signals, promotions, config, now, pace: createPace() }, filters);
    return { agentId, workspace: target.name, ...found, minScore: config.minScore };
  }

  /** Ids of memories that wait for review. */
  async #listUntrusted(workspace: string): Promise<Set<string>> {
    const labels = await this.#deps.labels.list('memory', `${workspace}/`);
    return new Set([...labels.keys()].map((name) => name.slice(workspace.length + 1)));
  }

  #emitChange(workspace: string, run: DreamRun | null): void {
    const { hub } = this.#deps;
    const payload = { workspace, run: run && { id: run.id, state: run.state, phase: run.phase } };
    hub.emit({ event: 'dreaming.changed', payload }, null);
  }
}

export function toProposal(promotion: Promotion): DreamProposal {
  const { text: _, ...rest } = promotion;
  return { ...rest, text: toMemoryText(promotion) };
}

/** A change with the id of the memory that it has written. */
export function toChangeView(change: MemoryChange): DreamChange {
  const [written] = change.state === 'applied' ? change.added : [];
  return { ...change, ...(written ? { memoryId: toMemoryId(written.text) } : {}) };
}

const createRunningError = (): RpcError => new RpcError('ALREADY_EXISTS', 'Dreaming is already running in this workspace.');

/** Signals with their scores from the deep phase and their status, highest score first. */
async function listSignals(
  { signals, promotions, config, now, pace }: ListSignalsDeps,
  { query, state, limit, offset }: Pick<MethodParsed<'dreaming.signals'>, 'query' | 'state' | 'limit' | 'offset'>,
): Promise<{ signals: DreamSignal[]; total: number }> {
  const scorer = new PromotionScorer(config, { now: () => now });
  const words = normalizeText(query);
  const listed: DreamSignal[] = [];
  for (const signal of await inheritRecalls(signals, pace)) {
    await pace();
    if (words !== '' && !normalizeText(`${signal.content} ${signal.sourceRef}`).includes(words)) continue;
    const { score, components } = scorer.scoreSignal(signal);
    const signalState = computeSignalState(signal, promotions.get(signal.contentHash), score, config, now);
    if (state !== 'all' && signalState.state !== state) continue;
    const { contentHash, content, sourceRef, tags, createdAt, recallCount, recalls } = signal;
    listed.push({
      ...{ contentHash, content, sourceRef, tags, createdAt, score, ...signalState },
      lastAt: getLastActive(signal),
      recalls: recallCount,
      queries: getQueries(signal).size,
      lastQuery: recalls.at(-1)?.query ?? '',
      components: components.toDict(),
    });
  }
  listed.sort((a, b) => b.score - a.score || (a.contentHash < b.contentHash ? -1 : 1));
  return { signals: listed.slice(offset, offset + limit), total: listed.length };
}

function computeSignalState(
  signal: ShortTermSignal,
  promotion: Promotion | undefined,
  score: number,
  config: DreamingConfig,
  now: number,
): Pick<DreamSignal, 'state' | 'why'> {
  if (promotion) return { state: promotion.state === 'promoting' ? 'promoted' : promotion.state };
  if (signal.untrusted !== undefined) return { state: 'untrusted', why: signal.untrusted };
  const { minRecallCount, minUniqueQueries, minScore, maxAgeDays } = config;
  const queries = getQueries(signal).size;
  const shortfalls = [
    ...(signal.recallCount < minRecallCount ? [`recalled ${signal.recallCount} of ${minRecallCount} times`] : []),
    ...(queries < minUniqueQueries ? [`matched by ${queries} of ${minUniqueQueries} queries`] : []),
    ...(getLastActive(signal) < now - maxAgeDays * DAY_MS ? [`older than ${maxAgeDays} days`] : []),
    ...(score < minScore ? [`score below ${minScore}`] : []),
  ];
  return shortfalls.length === 0 ? { state: 'ready' } : { state: 'short', why: shortfalls.join('; ') };
}

/**
 * Creates a function that has an agent's model, or its fallbacks, write a narrative and records the usage. Undefined if only the guide
 * would answer, which is not a model.
 */
async function createNarrator(agent: Agent, deps: CompletionDeps): Promise<Narrate | undefined> {
  const [model] = await getAgentModels(agent, DREAMING_PRINCIPAL, 'dreaming', deps);
  return model && ((prompt, signal) => model.complete(prompt, { maxTokens: MAX_NARRATIVE_TOKENS, signal }));
}
