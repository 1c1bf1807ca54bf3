import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { DeliverOptions } from '#shared/rpc/delivery-target.ts';
import type { Plan } from '#shared/rpc/methods/plan-contracts.ts';
import { Mutex } from '#shared/async/mutex.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { EventBus } from '../../system/event-bus.ts';
import type { RunRequest } from '../runs/run-types.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { ContentLabels } from '../trust/content-labels.ts';
import { VaultReadOnlyError } from '../../storage/vault-errors.ts';
import { toSessionKey } from '../../storage/chat-records.ts';
import { startStep, applyPlanChange, findCurrentIndex, getCurrentStep, createSteps, pausePlan, type PlanChange } from './plan-steps.ts';

export interface PlansDeps {
  vault: Pick<Vault, 'collection' | 'runs' | 'onRemoteChanges'>;
  hub: EventBus;
  clock: Clock;
  /** Throws if the agent does not exist. */
  agent(id: string): unknown;
  runs: {
    /** The run on this host, active or queued. */
    find(runId: string): unknown;
    send(request: RunRequest & { message: string }): Promise<unknown>;
  };
  labels: Pick<ContentLabels, 'getSources'>;
  /** Tells the destinations of a plan how it stands; once for each run. `outside`: sources that influenced the plan. */
  deliverPlan(plan: Plan, outside: readonly string[]): Promise<void>;
  fault(error: unknown): unknown;
}

/** The run of a session in which a plan is made or followed. */
export interface PlanRun {
  agentId: string;
  sessionId: string;
  runId: string;
}

const HOST_GONE = 'Interrupted: the gateway was closed';

/**
 * Plans of agents. A running plan belongs to a run; it is paused if that run ends with steps left, or if its host is gone. A session has at
 * most one running plan.
 */
export class Plans {
  readonly #deps: PlansDeps;
  /** Plans that are not completed, by id. */
  readonly #open = new Map<string, Plan>();
  /** Plans whose destinations have not been told how they stand after their last run, by id. */
  readonly #untold = new Map<string, Plan>();
  readonly #mutex = new Mutex();

  private constructor(deps: PlansDeps) {
    this.#deps = deps;
  }

  /** Loads all plans and pauses those without an active run. */
  static async open(deps: PlansDeps): Promise<Plans> {
    const plans = new Plans(deps);
    deps.vault.onRemoteChanges((changes) => {
      for (const { store, key } of changes) if (store === 'plans') void plans.#reload(key).catch(deps.fault);
    });
    for (const plan of await plans.list()) plans.#cache(plan);
    await plans.#recover();
    const unfinished = await deps.vault.runs.unfinished();
    void plans.#deliverEnded((plan) => !unfinished.some(({ id }) => id === plan.runId));
    return plans;
  }

  /** Most recently changed first. */
  async list(): Promise<Plan[]> {
    return (await this.#store.list()).sort((a, b) => b.updatedAt - a.updatedAt);
  }

  /** Throws `NOT_FOUND`. */
  async get(id: string): Promise<Plan> {
    const plan = await this.#store.get(id);
    if (!plan) throw new RpcError('NOT_FOUND', `No plan with id "${id}".`);
    return plan;
  }

  /** The current plan of a session: the newest that is not completed. */
  getCurrent(key: string): Plan | undefined {
    return [...this.#open.values()].filter((plan) => getPlanSessionKey(plan) === key).sort((a, b) => b.createdAt - a.createdAt)[0];
  }

  /** Creates a plan and starts its first step, unless `start` is false. Pauses another running plan of the session. */
  create(
    { agentId, sessionId, runId }: PlanRun,
    { goal, steps, start, deliver }: { goal: string; steps: readonly string[]; start: boolean; deliver?: DeliverOptions | undefined },
  ): Promise<Plan> {
    return this.#mutex.run(async () => {
      await this.#pauseOthers(toSessionKey(agentId, sessionId));
      // Keeps plans in order of creation even if the clock is set back.
      const now = Math.max(this.#deps.clock.now(), ...[...this.#open.values()].map(({ createdAt }) => createdAt + 1));
      const created = createSteps(steps, 0);
      const plan: Plan = {
        id: crypto.randomUUID(),
        goal,
        status: 'pending',
        steps: created,
        currentStepIndex: findCurrentIndex(created),
        agentId,
        sessionId,
        runId,
        createdAt: now,
        updatedAt: now,
        ...(deliver ? { deliver } : {}),
      };
      return this.#save(start ? startStep(plan, runId, now) : plan);
    });
  }

  /** Changes a plan of the session, by default the current one. Throws `NOT_FOUND`, and `INVALID_PARAMS` with the allowed values. */
  update(planRun: PlanRun, planId: string | undefined, change: PlanChange): Promise<Plan> {
    return this.#mutex.run(async () => {
      const key = toSessionKey(planRun.agentId, planRun.sessionId);
      const id = planId ?? this.getCurrent(key)?.id;
      if (id === undefined) throw new RpcError('NOT_FOUND', 'This chat has no open plan. Create one with plan_create.');
      const after = await this.#change(id, (plan) => {
        if (getPlanSessionKey(plan) !== key) throw new RpcError('NOT_FOUND', `No plan with id "${id}" in this chat.`);
        return applyPlanChange(plan, change, planRun.runId, this.#deps.clock.now());
      });
      if (!after) throw new RpcError('NOT_FOUND', `No plan with id "${id}" in this chat.`);
      if (after.status === 'running') await this.#pauseOthers(key, id);
      return after;
    });
  }

  /** Resumes a paused plan: starts a run in its session. Throws `NOT_FOUND`. */
  async resume(
    id: string,
    { principal, scopes }: Pick<RunRequest, 'principal' | 'scopes'>,
  ): Promise<{ resumed: boolean; plan: Plan; reason?: string }> {
    const runId = crypto.randomUUID();
    const [plan, reason, step] = await this.#mutex.run(async () => {
      const before = await this.get(id);
      const obstacle = this.#findObstacle(before);
      if (obstacle !== undefined) return [before, obstacle] as const;
      const { clock } = this.#deps;
      const after = (await this.#change(id, (now) => (now.status === 'paused' ? startStep(now, runId, clock.now()) : now))) ?? before;
      return after.runId === runId ? ([after, undefined, getCurrentStep(before)] as const) : ([after, this.#findObstacle(after)] as const);
    });
    if (reason !== undefined || !step) return { resumed: false, plan, reason: reason ?? 'All steps of the plan are done.' };
    const { agentId, sessionId } = plan;
    const before = step.result ? `\n\nProgress so far: ${step.result}` : '';
    const message = `Continue the plan "${plan.goal}" with step ${step.id}: ${step.description}${before}`;
    const quotedOutside = await this.#deps.labels.getSources('plan', id);
    // The end of the run is reported by its own events. If it cannot start, the plan is paused again.
    this.#deps.runs
      .send({ agentId, sessionId, message, principal, scopes, runId, quotedOutside })
      .catch((error: unknown) => this.onRunEnded(runId, toErrorMessage(error)));
    return { resumed: true, plan };
  }

  /** Throws `NOT_FOUND`. */
  remove(id: string): Promise<void> {
    return this.#mutex.run(async () => {
      if (!(await this.#store.remove(id))) throw new RpcError('NOT_FOUND', `No plan with id "${id}".`);
      this.#open.delete(id);
      this.#untold.delete(id);
      this.#deps.hub.emit({ event: 'plan.changed', payload: { planId: id, deleted: true } }, null);
    });
  }

  /** Handles the end of a run: pauses its unfinished plan, with the reason if the run failed. Never rejects. */
  async onRunEnded(runId: string, reason?: string): Promise<void> {
    await this.#pauseMatching((plan) => plan.runId === runId, reason);
    await this.#deliverEnded((plan) => plan.runId === runId);
  }

  /** Handles a run that was lost with another host. Never rejects. */
  async onRunLost(runId: string, key: string): Promise<void> {
    const { runs } = this.#deps;
    const isLost = (plan: Plan): boolean =>
      plan.runId === runId || (getPlanSessionKey(plan) === key && plan.runId !== undefined && !runs.find(plan.runId));
    await this.#pauseMatching(isLost, HOST_GONE);
    await this.#deliverEnded(isLost);
  }

  get #store() {
    return this.#deps.vault.collection('plans');
  }

  #findObstacle(plan: Plan): string | undefined {
    if (plan.status !== 'paused') return `The plan is ${plan.status}. Only paused plans can be resumed.`;
    const other = [...this.#open.values()].find(({ id, status, ...rest }) => {
      return id !== plan.id && status === 'running' && getPlanSessionKey(rest) === getPlanSessionKey(plan);
    });
    if (other) return `Another plan is running in this chat: ${other.goal}`;
    try {
      this.#deps.agent(plan.agentId);
      return undefined;
    } catch (error) {
      return toErrorMessage(error);
    }
  }

  /** Pauses running plans whose host is gone: their run is not active anywhere, and their session has no unfinished run. */
  async #recover(): Promise<void> {
    if (![...this.#open.values()].some(isActive)) return;
    const { vault, runs } = this.#deps;
    const unfinished = await vault.runs.unfinished();
    const alive = (plan: Plan): boolean =>
      unfinished.some(({ id, sessionKey: key }) => id === plan.runId || key === getPlanSessionKey(plan)) ||
      (plan.runId !== undefined && runs.find(plan.runId) !== undefined);
    await this.#pauseMatching((plan) => !alive(plan), HOST_GONE);
  }

  async #pauseMatching(matches: (plan: Plan) => boolean, reason: string | undefined): Promise<void> {
    const { clock, fault } = this.#deps;
    if (![...this.#open.values()].some((plan) => isActive(plan) && matches(plan))) return;
    await this.#mutex
      .run(async () => {
        for (const { id } of [...this.#open.values()].filter((plan) => isActive(plan) && matches(plan)))
          await this.#change(id, (plan) => (isActive(plan) && matches(plan) ? pausePlan(plan, reason, clock.now()) : plan));
      })
      .catch((error: unknown) => {
        // In read-only mode plans stay unchanged; the mode is reported elsewhere.
        if (!(error instanceof VaultReadOnlyError)) fault(error);
      });
  }

  /** Tells how plans stand that have ended or wait for a person. Never rejects. */
  async #deliverEnded(matches: (plan: Plan) => boolean): Promise<void> {
    const { labels, deliverPlan, fault } = this.#deps;
    for (const plan of [...this.#untold.values()].filter((each) => !isActive(each) && matches(each)))
      try {
        await deliverPlan(plan, await labels.getSources('plan', plan.id));
        // Afterwards: a crash in between repeats a delivery that is recognized.
        const { runId } = plan;
        if (runId !== undefined) await this.#mutex.run(() => this.#change(plan.id, (now) => ({ ...now, deliveredRunId: runId })));
      } catch (error) {
        if (!(error instanceof VaultReadOnlyError)) fault(error);
      }
  }

  async #pauseOthers(key: string, except?: string): Promise<void> {
    for (const { id } of [...this.#open.values()].filter(
      (plan) => plan.status === 'running' && getPlanSessionKey(plan) === key && plan.id !== except,
    ))
      await this.#change(id, (plan) =>
        plan.status === 'running' ? pausePlan(plan, 'Paused because another plan started', this.#deps.clock.now()) : plan,
      );
  }

  async #change(id: string, change: (plan: Plan) => Plan): Promise<Plan | undefined> {
    const after = await this.#store.update(id, (plan) => plan && change(plan));
    if (after) this.#emitChange(after);
    return after;
  }

  async #save(plan: Plan): Promise<Plan> {
    await this.#store.put(plan);
    this.#emitChange(plan);
    return plan;
  }

  #emitChange(plan: Plan): void {
    this.#cache(plan);
    this.#deps.hub.emit({ event: 'plan.changed', payload: { planId: plan.id } }, getPlanSessionKey(plan));
  }

  #cache(plan: Plan): void {
    if (plan.status === 'completed') this.#open.delete(plan.id);
    else this.#open.set(plan.id, plan);
    if (plan.deliver && plan.runId !== plan.deliveredRunId) this.#untold.set(plan.id, plan);
    else this.#untold.delete(plan.id);
  }

  async #reload(id: string): Promise<void> {
    const plan = await this.#store.get(id);
    if (plan) return this.#cache(plan);
    this.#open.delete(id);
    this.#untold.delete(id);
  }
}

const getPlanSessionKey = ({ agentId, sessionId }: Pick<Plan, 'agentId' | 'sessionId'>): string => toSessionKey(agentId, sessionId);
const isActive = ({ status }: Plan): boolean => status === 'running' || status === 'pending';
const toErrorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));
