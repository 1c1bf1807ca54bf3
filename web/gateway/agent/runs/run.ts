import { createNotLoadedError, lazy } from '#shared/async/lazy.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { RunningRun } from '#shared/rpc/methods/chat-contracts.ts';
import type { Agent } from '../agents.ts';
import { toSender } from './idempotent-send.ts';
import type { RunExecution } from './run-execution.ts';
import type { RunDeps, RunIds, RunPosition, RunRequest, RunResult, SelectedModel } from './run-types.ts';

const loadExecution = lazy(() => import('./run-execution.ts'));

/** One generation, from its place in the queue to its terminal event. */
export class Run {
  readonly id: string;
  readonly #key: string;
  readonly #request: RunRequest;
  readonly #agent: Agent;
  readonly #getPosition: (at: number) => Promise<RunPosition | RunResult>;
  readonly #deps: RunDeps;
  readonly #abort = new AbortController();
  #execution: RunExecution | undefined;
  /** Abort reason, if the run was ended for a steering message. */
  #yieldReason: RpcError | undefined;

  constructor(key: string, request: RunRequest, agent: Agent, position: (at: number) => Promise<RunPosition | RunResult>, deps: RunDeps) {
    this.id = request.runId ?? crypto.randomUUID();
    this.#key = key;
    this.#request = request;
    this.#agent = agent;
    this.#getPosition = position;
    this.#deps = deps;
  }

  /** Whether its message is stored. */
  get isStarted(): boolean {
    return this.#execution?.isStarted ?? false;
  }

  /** Progress of the run; undefined before it has started. */
  get progress(): RunningRun | undefined {
    return this.#execution?.isStarted ? this.#execution.progress : undefined;
  }

  get ids(): RunIds {
    const { sessionId, agentId } = this.#request;
    return { sessionId, agentId, runId: this.id };
  }

  /** The reply's text so far, over all steps. */
  get text(): string {
    return this.#execution?.text ?? '';
  }

  abort(reason: RpcError): void {
    this.#abort.abort(reason);
  }

  /** Whether the principal started the run. */
  isStartedBy(principal: string): boolean {
    return this.#request.principal === principal;
  }

  /** Whether the run belongs to the call with this idempotency key. */
  isSentWith(sender: string, idempotencyKey: string): boolean {
    return toSender(this.#request.principal) === sender && this.#request.idempotencyKey === idempotencyKey;
  }

  /** Yields to a steering message: ends text generation immediately, but lets running tools finish. */
  yieldToSteering(): void {
    if (this.#execution?.isStarted && !this.#execution.isRunningTools)
      this.abort((this.#yieldReason = new RpcError('ABORTED', 'The run was stopped for the next message.')));
  }

  /** Runs to the end. The single terminal event is emitted after the outcome is stored, and before this settles. */
  async execute(chosen: SelectedModel): Promise<RunResult> {
    const { RunExecution } = await loadExecution().catch((cause: unknown) => this.#fail(createNotLoadedError(cause)));
    this.#execution = new RunExecution({
      ...{
        ids: this.ids,
        key: this.#key,
        request: this.#request,
        agent: this.#agent,
        chosen,
        deps: this.#deps,
        signal: this.#abort.signal,
      },
      getPosition: this.#getPosition,
      yieldReason: () => this.#yieldReason,
    });
    return this.#execution.execute();
  }

  #fail(error: RpcError): never {
    this.#deps.hub.emit({ event: 'chat.error', payload: { ...this.ids, error: error.toShape() } }, this.#key);
    throw error;
  }
}
