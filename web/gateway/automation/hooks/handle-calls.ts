import type { HookAction } from '#shared/rpc/methods/hook-contracts.ts';
import type { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { AgentToolkit } from '../../agent/toolkit/agent-toolkit.ts';
import type { Runs } from '../../agent/runs/runs.ts';
import { toSource } from '../../agent/trust/content-sources.ts';
import type { IncomingHookRecord, HookCallRecord } from '../../storage/records/hook-records.ts';
import type { Lazy } from '../../system/modules.ts';
import type { CronService } from '../cron/cron-service.ts';
import { runUnattended } from '../cron/unattended-run.ts';
import type { Deliveries } from '../deliveries/deliveries.ts';
import type { HookCalls } from './hook-calls.ts';

/** Maximum number of calls that are handled at the same time. */
const MAX_CONCURRENT = 4;
const DIGEST_CHARS = 12;
const RETRY_MS = 30_000;

export interface CallHandlerDeps {
  clock: Clock;
  calls: HookCalls;
  runs: Pick<Runs, 'send' | 'abortRun'>;
  cron: Lazy<Pick<CronService, 'run'>>;
  agentToolkit: Lazy<Pick<AgentToolkit, 'plans'>>;
  deliveries: Lazy<Pick<Deliveries, 'send'>>;
  find(name: string): Promise<IncomingHookRecord | undefined>;
  /** Whether this host handles calls. */
  isActive(): boolean;
  fault(error: unknown): RpcError;
}

/** Result of an action. */
type Outcome = Pick<HookCallRecord, 'state'> & Partial<Pick<HookCallRecord, 'error' | 'agentId' | 'sessionId' | 'runId'>>;

/** Principal of what a hook starts. */
const toHookPrincipal = (name: string): string => `hook:${name}`;

/** Handles stored calls, each hook's in order: a repeated start of the same call changes nothing, since runs know its id. */
export class CallHandler {
  readonly #deps: CallHandlerDeps;
  /** Names of hooks whose calls are being handled. */
  readonly #active = new Set<string>();
  #stopped = false;
  #cancelRetry = (): void => {};

  constructor(deps: CallHandlerDeps) {
    this.#deps = deps;
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelRetry();
  }

  /** Starts calls that wait. Never rejects. */
  async start(): Promise<void> {
    const { calls, isActive, fault } = this.#deps;
    if (this.#stopped || !isActive()) return;
    try {
      for (const call of await calls.listPending()) {
        if (call.direction !== 'in' || this.#active.has(call.hook)) continue;
        if (this.#active.size >= MAX_CONCURRENT) return;
        this.#active.add(call.hook);
        void this.#handle(call).then((isStored) => {
          this.#active.delete(call.hook);
          if (isStored) void this.start();
          else this.#retryLater();
        });
      }
    } catch (error) {
      fault(error);
    }
  }

  /** Checks again after a while, since storage has failed. */
  #retryLater(): void {
    this.#cancelRetry();
    this.#cancelRetry = this.#deps.clock.after(RETRY_MS, () => void this.start());
  }

  /** False if the outcome could not be stored. Never rejects. */
  async #handle(call: HookCallRecord): Promise<boolean> {
    const { calls, find, clock, fault } = this.#deps;
    try {
      const hook = await find(call.hook);
      if (!hook) {
        await calls.removeAll(call.hook);
        return true;
      }
      await calls.change(call.id, { state: 'running' });
      const outcome = await this.#run(hook, call).catch((error: unknown): Outcome => ({ state: 'failed', error: fault(error).message }));
      // The next host continues.
      if (this.#stopped) return true;
      // A failed call keeps its text, so that it can be handled again.
      await calls.change(call.id, { ...outcome, endedAt: clock.now(), ...(outcome.state === 'failed' ? {} : { content: undefined }) });
      return true;
    } catch (error) {
      fault(error);
      return false;
    }
  }

  async #run({ name, action, enabled }: IncomingHookRecord, call: HookCallRecord): Promise<Outcome> {
    if (!enabled) return { state: 'failed', error: 'The hook was turned off.' };
    const { cron, agentToolkit, deliveries } = this.#deps;
    switch (action.kind) {
      case 'agent':
        return this.#sendToAgent(name, action, call);
      case 'message': {
        const source = toSource('hook', name);
        await (
          await deliveries.load()
        ).send({
          ...{ key: call.id, target: action.target, text: call.content ?? call.text, title: name, path: '/webhooks' },
          ...{ source: { kind: 'hook', id: name }, outside: [source] },
        });
        return { state: 'completed' };
      }
      case 'job': {
        const { agentId, sessionId, runId } = await (await cron.load()).run(action.jobId);
        return { state: 'completed', ...(agentId && sessionId && runId ? { agentId, sessionId, runId } : {}) };
      }
      case 'plan': {
        const { plans } = await agentToolkit.load();
        const { resumed, reason, plan } = await plans.resume(action.planId, { principal: toHookPrincipal(name), scopes: undefined });
        const { agentId, sessionId } = plan;
        return resumed ? { state: 'completed', agentId, sessionId } : { state: 'failed', error: reason ?? 'The plan can’t be resumed.' };
      }
    }
  }

  async #sendToAgent(name: string, action: Extract<HookAction, { kind: 'agent' }>, call: HookCallRecord): Promise<Outcome> {
    const digest = call.id.slice(call.id.indexOf('@') + 1);
    const session = { agentId: action.agentId, sessionId: action.sessionId ?? `hook-${name}-${digest.slice(0, DIGEST_CHARS)}` };
    const { status, error, runId } = await runUnattended(this.#deps, {
      ...session,
      message: call.content ?? call.text,
      principal: toHookPrincipal(name),
      quotedOutside: [toSource('hook', name)],
      idempotencyKey: digest,
    });
    const outcome = { ...session, ...(runId === undefined ? {} : { runId }) };
    return status === 'completed' ? { ...outcome, state: 'completed' } : { ...outcome, state: 'failed', error: error ?? null };
  }
}
