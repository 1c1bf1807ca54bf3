import { COMMAND_MS } from '#shared/ports/exec.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { ExecPolicy, ExecRequest } from '#shared/rpc/methods/exec.ts';
import { EXPIRES_MS, newestFirst, Questions } from '../approvals/questions.ts';
import type { Bridge } from '../bridge.ts';
import { type Clock, every } from '../clock.ts';
import type { Hub } from '../hub.ts';
import type { SyncPort } from '../sync.ts';
import type { ContentLabels } from '../trust/labels.ts';
import type { ExecRecord, Vault } from '../vault.ts';
import { execute, type Outcome } from './execute.ts';
import { KeptOutput, trimmed } from './kept-output.ts';
import { lentBy, orphaned } from './orphaned.ts';
import { riskOf } from './risk.ts';
import { findPolicy, storePolicy } from './policies.ts';
import { resolveCommand } from './resolve-command.ts';
import { briefOf, requestOf, withPrevious } from './shown.ts';
import { sessionOf, tell } from './tell.ts';
import { findUnreviewedFiles } from './unreviewed-files.ts';
import type { Wanted } from './wanted.ts';

/** Interval at which output of a running command is stored, in case the host dies. */
const SAVE_MS = 2000;
export interface ExecDeps {
  vault: Vault;
  hub: Pick<Hub, 'emit'>;
  clock: Clock;
  bridge: Bridge;
  labels: Pick<ContentLabels, 'list'>;
  sync: SyncPort | undefined;
  /** Time limit for a command in milliseconds; undefined for the default. */
  timeoutMs(): number | undefined;
  fault(error: unknown): RpcError;
}

/** An open request of this host. */
interface Live {
  begun: boolean;
  stop: AbortController;
  output: KeptOutput;
  done: PromiseWithResolvers<ExecRecord>;
}

/**
 * Requests to run a command: pending → approved → running → completed or failed, or denied, expired, cancelled. The host that created a
 * request runs it, once; the answer may come from any host of the vault.
 */
export class ExecRequests {
  readonly #deps: ExecDeps;
  readonly #questions: Questions<ExecRecord>;
  readonly #live = new Map<string, Live>();
  #stopped = false;

  constructor(deps: ExecDeps) {
    this.#deps = deps;
    const { vault, clock, sync, fault } = deps;
    this.#questions = new Questions<ExecRecord>({
      store: vault.collection('execRequests'),
      vault,
      clock,
      sync,
      what: 'exec request',
      idOf: ({ requestId }) => requestId,
      isOpen: ({ status }) => status === 'pending' || status === 'approved' || status === 'running',
      expired: (before, at) => ({ ...before, status: 'expired', resolvedAt: at, reason: 'No response in time' }),
      orphaned: (before, at) => orphaned(before, at, vault),
      told: (record, before) => tell(deps.hub, record, before),
      own: (record, taken) => this.#own(record, taken),
      fault,
    });
  }

  start(): Promise<void> {
    return this.#questions.start();
  }

  /** Stops running commands; they are reported as failed, now or at the next start. */
  stop(): void {
    this.#stopped = true;
    this.#questions.stop();
    for (const { stop } of this.#live.values()) stop.abort(new RpcError('ABORTED', 'The gateway was closed.'));
  }

  heard(ids: readonly string[]): Promise<void> {
    return this.#questions.heard(ids);
  }

  /** All requests, without their output. */
  async list(): Promise<ExecRequest[]> {
    return (await this.records()).map(briefOf);
  }

  /** All records, newest first. */
  records(): Promise<ExecRecord[]> {
    return this.#questions.list();
  }

  async get(id: string): Promise<ExecRequest> {
    const record = await this.#questions.get(id);
    const live = this.#live.get(id);
    return withPrevious(requestOf(live?.begun ? { ...record, ...live.output.fields } : record), await this.records());
  }

  /** Whether a request with that id exists. */
  async has(id: string): Promise<boolean> {
    return (await this.#deps.vault.collection('execRequests').get(id)) !== undefined;
  }

  /**
   * Creates a request, which waits for approval, or runs at once if a stored policy covers exactly this command. Rejects without a bridge,
   * and with `INVALID_PARAMS` for a command that cannot run.
   */
  async create(
    { command, args, workingDir, purpose, toolCallId, approved = false, outside, readOutside, isGranted = () => false, ...who }: Wanted,
    signal: AbortSignal,
  ): Promise<ExecRequest> {
    const { bridge, vault, clock, labels } = this.#deps;
    const written = { command, args: [...args], ...(workingDir === undefined ? {} : { workingDir }) };
    const { asked, resolved: found } = await resolveCommand(bridge, written, signal);
    const { earlierHash, workspaces = [], ...resolved } = found;
    const policy = await findPolicy(vault, { ...resolved, ...who, earlierHash });
    const { paths, sources } = await findUnreviewedFiles(labels, workspaces);
    const isAccepted = sources.length === 0 || isGranted(sources);
    const covered = policy !== undefined && (outside ?? []).every((source) => policy.outside?.includes(source));
    const at = clock.now();
    const record: ExecRecord = {
      ...asked,
      ...resolved,
      ...who,
      ...(purpose === undefined ? {} : { purpose }),
      ...(toolCallId === undefined ? {} : { toolCallId }),
      ...(outside === undefined ? {} : { outside }),
      // Further files that arrive before it runs are accepted too.
      ...(workspaces.length === 0 || (isAccepted && paths.length > 0) ? {} : { workspaces }),
      ...(isAccepted ? {} : { unreviewed: paths }),
      ...(readOutside === undefined ? {} : { readOutside }),
      requestId: crypto.randomUUID(),
      status: 'pending',
      createdAt: at,
      expiresAt: at + EXPIRES_MS,
      riskLevel: riskOf({ ...asked, realPath: resolved.realPath }),
      origin: vault.origin,
      replica: vault.replica,
    };
    const reason = !isAccepted
      ? undefined
      : covered
        ? 'Allowed by a saved policy for exactly this command'
        : approved
          ? 'Allowed by policy: exec is set to auto'
          : undefined;
    const made: ExecRecord = reason === undefined ? record : { ...record, status: 'approved', resolvedAt: at, reason };
    this.#live.set(made.requestId, newLive());
    try {
      await this.#questions.add(made);
    } catch (error) {
      this.#live.delete(made.requestId);
      throw error;
    }
    return requestOf(made);
  }

  /** Creates a request and waits for its end; the signal cancels it. */
  async perform(wanted: Wanted, signal: AbortSignal): Promise<ExecRequest> {
    const { requestId } = await this.create(wanted, signal);
    const over = this.#live.get(requestId)?.done.promise;
    const cancel = (): void => void this.cancel(requestId, 'The run that requested it was stopped').catch(this.#deps.fault);
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    try {
      return over ? requestOf(await over) : await this.get(requestId);
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  async approve(id: string, always: boolean): Promise<ExecRequest> {
    const { vault, clock } = this.#deps;
    const { record, changed } = await this.#questions.answer(id, (before, at) => ({ ...before, status: 'approved', resolvedAt: at }));
    if (changed && always && record.status === 'approved') {
      await storePolicy(vault, record, clock.now());
    }
    return requestOf(record);
  }

  async deny(id: string, reason?: string): Promise<ExecRequest> {
    const said = reason === undefined ? {} : { reason };
    const { record } = await this.#questions.answer(id, (before, at) => ({ ...before, status: 'denied', resolvedAt: at, ...said }));
    return requestOf(record);
  }

  /** Cancels a waiting request, or stops a running one, here or on another host. */
  async cancel(id: string, reason = 'Cancelled'): Promise<ExecRequest> {
    const { record, changed } = await this.#questions.answer(id, (before, at) => ({
      ...before,
      status: 'cancelled',
      resolvedAt: at,
      reason,
    }));
    if (changed || (record.status !== 'approved' && record.status !== 'running')) return requestOf(record);
    const live = this.#live.get(id);
    if (!live) {
      await this.#deps.sync?.signal(record.origin, { type: 'exec.cancel', requestId: id }).catch(() => false);
      return requestOf(record);
    }
    live.stop.abort(new RpcError('ABORTED', reason));
    return requestOf(await live.done.promise);
  }

  async policies(): Promise<ExecPolicy[]> {
    return newestFirst(await this.#deps.vault.collection('execPolicies').list());
  }

  async forget(hash: string): Promise<void> {
    if (!(await this.#deps.vault.collection('execPolicies').remove(hash)))
      throw new RpcError('NOT_FOUND', `No policy with hash "${hash}".`);
  }

  /** Handles a change of one of this host's requests: starts or ends it. `taken`: it belonged to another host until now. */
  #own(record: ExecRecord, taken: boolean): void {
    const { requestId: id, status } = record;
    const live = this.#live.get(id);
    if (status === 'pending' && !live) return void this.#live.set(id, newLive());
    if (!live && taken && status === 'approved') return void this.#takeUp(record).catch(this.#deps.fault);
    if (!live) {
      // The request has already ended here, which the other host did not know: an approval is used once, so it must not run.
      if (status === 'approved') this.#close(id, 'Approved too late').catch(this.#deps.fault);
      return;
    }
    if (live.begun || status === 'pending') return;
    if (status !== 'approved') return this.#over(id, live, record);
    void this.#begin(record, live);
  }

  /** Runs a request that was approved for a host that died before it started, once the bridge is attached. */
  async #takeUp(record: ExecRecord): Promise<void> {
    const { bridge, clock, fault } = this.#deps;
    const { requestId: id, expiresAt } = record;
    const live = { ...newLive(), begun: true };
    this.#live.set(id, live);
    try {
      await lentBy(bridge, clock, expiresAt, live.stop.signal);
    } catch (error) {
      // The next host continues with it.
      if (this.#stopped) return;
      const status = live.stop.signal.aborted ? 'cancelled' : 'failed';
      await this.#close(id, fault(error).message, status);
      return this.#over(id, live, await this.#questions.get(id));
    }
    await this.#begin(record, live);
  }

  #begin(record: ExecRecord, live: Live): Promise<void> {
    live.begun = true;
    return this.#run(record, live).catch((error: unknown) =>
      this.#over(record.requestId, live, { ...record, status: 'failed', reason: this.#deps.fault(error).message }),
    );
  }

  #over(id: string, live: Live, record: ExecRecord): void {
    this.#live.delete(id);
    live.done.resolve(record);
    this.#questions.prune(trimmed).catch(this.#deps.fault);
  }

  async #close(id: string, reason: string, status: 'failed' | 'cancelled' = 'failed'): Promise<void> {
    const at = this.#deps.clock.now();
    await this.#questions.change(id, (before) => ({ ...before, status, endedAt: at, reason }));
  }

  async #run(record: ExecRecord, live: Live): Promise<void> {
    const { bridge, hub, clock, timeoutMs, vault } = this.#deps;
    const { requestId: id } = record;
    const begun = await this.#questions.change(id, (before) =>
      before.status === 'approved' && before.origin === vault.origin ? { ...before, status: 'running' } : undefined,
    );
    if (!begun.changed) return this.#over(id, live, begun.record);
    const stopSaving = this.#save(id, live);
    let outcome: Outcome;
    try {
      const limit = timeoutMs() ?? COMMAND_MS;
      await this.#requireSeenFiles(record);
      outcome = await execute(bridge, record, limit, live.stop.signal, (stream, text) => {
        const offset = live.output.add(stream, text);
        if (offset !== null)
          hub.emit({ event: 'exec.output', payload: { requestId: id, stream, text, offset } }, sessionOf(record), record.connId);
      });
    } catch (error) {
      const { aborted, reason } = live.stop.signal;
      outcome = { status: aborted && !this.#stopped ? 'cancelled' : 'failed', reason: this.#deps.fault(aborted ? reason : error).message };
    } finally {
      stopSaving();
    }
    const ended = { endedAt: clock.now(), ...live.output.fields, ...outcome };
    let over: ExecRecord = { ...record, ...ended };
    try {
      over = (await this.#questions.change(id, (before) => ({ ...before, ...ended }))).record;
    } catch (error) {
      // Callers that wait still get the result; the record is closed as failed at the next start.
      this.#deps.fault(error);
    }
    this.#over(id, live, over);
  }

  /** Throws if outside files have appeared since a person was shown those that the command could load. */
  async #requireSeenFiles({ command, workspaces = [], unreviewed = [] }: ExecRecord): Promise<void> {
    const { paths } = await findUnreviewedFiles(this.#deps.labels, workspaces);
    const added = paths.filter((path) => !unreviewed.includes(path));
    if (added.length > 0) throw new RpcError('INTERNAL_ERROR', `${command} could load files that nobody has reviewed: ${added.join(', ')}`);
  }

  #save(id: string, live: Live): () => void {
    let saved = 0;
    return every(this.#deps.clock, SAVE_MS, () => {
      if (live.output.length <= saved) return;
      saved = live.output.length;
      // Best effort: the output is in memory too, and the final write reports a failing store.
      this.#questions
        .change(id, (before) => (before.status === 'running' ? { ...before, ...live.output.fields } : undefined))
        .catch(() => {});
    });
  }
}

const newLive = (): Live => ({ begun: false, stop: new AbortController(), output: new KeptOutput(), done: Promise.withResolvers() });
