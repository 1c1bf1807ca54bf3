import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { RunningRun } from '#shared/rpc/methods/chat-contracts.ts';
import { toSender } from './idempotent-send.ts';
import type { RunExecution } from './run-execution.ts';
import type { QueuedRun, RunIds } from './run-types.ts';

/** A run in the queue of its session: how far it is, and how it is ended. */
export class Run {
  readonly id: string;
  readonly queued: QueuedRun;
  /** Set when its turn has come. */
  execution: RunExecution | undefined;
  readonly #abort = new AbortController();
  #yieldReason: RpcError | undefined;

  constructor(queued: QueuedRun) {
    this.id = queued.request.runId ?? crypto.randomUUID();
    this.queued = queued;
  }

  /** Whether its message is stored. */
  get isStarted(): boolean {
    return this.execution?.isStarted ?? false;
  }

  /** Progress of the run; undefined before it has started. */
  get progress(): RunningRun | undefined {
    return this.execution?.isStarted ? this.execution.progress : undefined;
  }

  get ids(): RunIds {
    const { sessionId, agentId } = this.queued.request;
    return { sessionId, agentId, runId: this.id };
  }

  /** The reply's text so far, over all steps. */
  get text(): string {
    return this.execution?.text ?? '';
  }

  /** Aborted with the reason if the run is ended early. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Abort reason, if the run was ended for a steering message. */
  get yieldReason(): RpcError | undefined {
    return this.#yieldReason;
  }

  abort(reason: RpcError): void {
    this.#abort.abort(reason);
  }

  /** Whether the principal started the run. */
  isStartedBy(principal: string): boolean {
    return this.queued.request.principal === principal;
  }

  /** Whether the run belongs to the call with this idempotency key. */
  isSentWith(sender: string, idempotencyKey: string): boolean {
    const { request } = this.queued;
    return toSender(request.principal) === sender && request.idempotencyKey === idempotencyKey;
  }

  /** Yields to a steering message: ends text generation immediately, but lets running tools finish. */
  yieldToSteering(): void {
    if (this.execution?.isStarted && !this.execution.isRunningTools)
      this.abort((this.#yieldReason = new RpcError('ABORTED', 'The run was stopped for the next message.')));
  }
}
