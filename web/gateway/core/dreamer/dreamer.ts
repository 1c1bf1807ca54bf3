import { RpcError } from '#shared/rpc/errors.ts';
import { DREAM_PHASES, type DreamProposal, type DreamRun } from '#shared/rpc/methods/dreaming.ts';
import type { MethodParsed, MethodResult } from '#shared/rpc/methods/index.ts';
import { type Agent, type Agents, workspaceOf } from '../agents.ts';
import { canonical } from '../canonical.ts';
import type { AskingDeps } from '../compaction/asking.ts';
import type { Clock } from '../clock.ts';
import { DreamingConfig } from '../dreaming/config.ts';
import { DreamingPhases } from '../dreaming/dreaming-phases.ts';
import { memoryText } from '../dreaming/promoter.ts';
import type { Promotion } from '../dreaming/promotion-log.ts';
import type { DreamingPhase } from '../dreaming/report.ts';
import { ReviewRefusal } from '../dreaming/review-queue.ts';
import type { Hub } from '../hub.ts';
import type { Workspace } from '../memory/workspace.ts';
import type { Settings } from '../settings.ts';
import type { SyncPort } from '../sync.ts';
import type { Vault } from '../vault.ts';
import { dream } from './dream.ts';
import { narratorOf } from './narrator.ts';
import { sharedPace } from './pace.ts';
import { takeRecalls } from './recall-signals.ts';
import { RunLog } from './run-log.ts';
import { countedSessions } from './sessions.ts';
import { shownSignals } from './shown-signals.ts';

export interface DreamerDeps extends AskingDeps {
  vault: Pick<Vault, 'messages' | 'usage' | 'origin'>;
  hub: Pick<Hub, 'emit'>;
  clock: Clock;
  sync: SyncPort | undefined;
  agents: Agents;
  settings(): Settings;
  /** The configured time zone. */
  timeZone(): string;
  /** Opens the workspace of an agent's memory. */
  workspaceOf(agentId: string): Promise<Workspace>;
  fault(error: unknown): RpcError;
}

/** A workspace that dreams. */
interface Place {
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
  readonly #places = new Map<string, Promise<Place>>();

  constructor(deps: DreamerDeps) {
    this.#deps = deps;
  }

  /** Rejects with `NOT_FOUND` if the agent does not exist. */
  async place(agentId: string): Promise<Place> {
    const { agents, vault, workspaceOf: open } = this.#deps;
    const name = workspaceOf(agents.get(agentId));
    let opening = this.#places.get(name);
    if (!opening) {
      // One object per workspace: runs are serialized by it.
      opening = open(agentId).then((workspace) => ({ name, workspace, log: new RunLog(workspace, vault.origin) }));
      this.#places.set(name, opening);
      opening.catch(() => this.#places.delete(name));
    }
    return opening;
  }

  /** The settings in the form of the library. The schedule is validated elsewhere. */
  config(): DreamingConfig {
    const { cron: _, enabled: __, timezone, ...rest } = this.#deps.settings().dreaming;
    return new DreamingConfig({ ...rest, timezone: timezone ?? this.#deps.timeZone() });
  }

  /** For queries and for decisions of the user. */
  phases(place: Place): { phases: DreamingPhases; config: DreamingConfig } {
    const config = this.config();
    const settings = canonical({ ...config });
    if (place.phases?.settings !== settings) {
      const phases = new DreamingPhases(place.workspace, config, { now: () => this.#deps.clock.now(), pace: sharedPace() });
      place.phases = { settings, phases, config };
    }
    return place.phases;
  }

  async runs(place: Place, limit: number): Promise<{ runs: DreamRun[]; problems: { path: string; line: number; why: string }[] }> {
    const { runs, broken } = await place.log.list(this.#deps.clock.now(), (id) => place.active?.run.id === id);
    return { runs: runs.slice(0, limit), problems: broken };
  }

  /** Starts a run at once. Throws `ALREADY_EXISTS` if another one is active, here or on another host. */
  async begin(
    agentId: string,
    phases: readonly DreamingPhase[],
    by: DreamRun['by'] = 'person',
  ): Promise<{ run: DreamRun; done: Promise<DreamRun> }> {
    const { clock, agents } = this.#deps;
    const place = await this.place(agentId);
    if (place.active) throw underWay();
    const run: DreamRun = {
      id: crypto.randomUUID(),
      by,
      phases: DREAM_PHASES.filter((each) => phases.includes(each)),
      state: 'running',
      phase: null,
      startedAt: clock.now(),
      finishedAt: null,
      problems: [],
    };
    const begun = Promise.withResolvers<void>();
    const done = this.#run(place, agents.get(agentId), run, () => begun.resolve());
    const active = { run, done };
    place.active = active;
    const end = (): void => {
      if (place.active === active) place.active = undefined;
    };
    done.then(end, end);
    // An error before the start goes to the caller; a later one is recorded in the history.
    await Promise.race([begun.promise, done]);
    return { run, done };
  }

  /** Runs all phases for a scheduled tick, after the active run if there is one. */
  async tick(agentId: string): Promise<void> {
    const place = await this.place(agentId);
    while (place.active) await place.active.done.catch(() => {});
    await (
      await this.begin(agentId, DREAM_PHASES, 'schedule')
    ).done;
  }

  async #run(place: Place, agent: Agent, run: DreamRun, begun: () => void): Promise<DreamRun> {
    const { clock, vault, agents, settings, sync } = this.#deps;
    const { workspace, name, log } = place;
    const lease = `dreaming:${name}`;
    const shared = sync?.state().state === 'synced';
    const fence = shared ? await sync.lease(lease, LEASE_MS) : null;
    if (shared && fence === null) throw underWay();
    try {
      const narrate = await narratorOf(agent, this.#deps).catch((error: unknown) => () => Promise.reject(this.#deps.fault(error)));
      const pace = sharedPace();
      const config = this.config();
      const now = (): number => clock.now();
      const phases = new DreamingPhases(workspace, config, { now, pace, ...(narrate ? { narrate } : {}) });
      const belongs = countedSessions(name, agents, settings());
      const { maxAgeDays } = config;
      return await dream(run, {
        phases,
        log,
        takeRecalls: () => takeRecalls({ messages: vault.messages, workspace, signals: phases.signals, belongs, maxAgeDays, now, pace }),
        now,
        changed: (at) => {
          if (place.active?.run.id === at.id) place.active.run = at;
          this.#changed(name, at);
          begun();
        },
      });
    } finally {
      if (sync && fence !== null) await sync.release(lease, fence);
    }
  }

  /** Applies a user's decision on a proposal and announces it. */
  async decide(agentId: string, act: (phases: DreamingPhases) => Promise<Promotion>): Promise<DreamProposal> {
    const place = await this.place(agentId);
    try {
      const proposal = shownProposal(await act(this.phases(place).phases));
      this.#changed(place.name, null);
      return proposal;
    } catch (error) {
      if (!(error instanceof ReviewRefusal)) throw error;
      const code = { absent: 'NOT_FOUND', settled: 'ALREADY_EXISTS', unfit: 'INVALID_PARAMS' } as const;
      throw new RpcError(code[error.kind], error.message);
    }
  }

  async signals({ agentId, ...wanted }: MethodParsed<'dreaming.signals'>): Promise<MethodResult<'dreaming.signals'>> {
    const place = await this.place(agentId);
    const { phases, config } = this.phases(place);
    const [signals, settled] = await Promise.all([phases.signals.getAllSignals(), phases.review.history()]);
    const promotions = new Map(settled.map((each) => [each.contentHash, each]));
    const now = this.#deps.clock.now();
    const found = await shownSignals({ signals, promotions, config, now, pace: sharedPace() }, wanted);
    return { agentId, workspace: place.name, ...found, minScore: config.minScore };
  }

  #changed(workspace: string, run: DreamRun | null): void {
    const { hub } = this.#deps;
    const payload = { workspace, run: run && { id: run.id, state: run.state, phase: run.phase } };
    hub.emit({ event: 'dreaming.changed', payload }, null);
  }
}

export function shownProposal(promotion: Promotion): DreamProposal {
  const { text: _, ...rest } = promotion;
  return { ...rest, text: memoryText(promotion) };
}

const underWay = (): RpcError => new RpcError('ALREADY_EXISTS', 'Dreaming is already running in this workspace.');
