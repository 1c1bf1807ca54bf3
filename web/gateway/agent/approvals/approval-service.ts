import { type AnyEvent, events } from '#shared/rpc/events.ts';
import { z } from '#shared/rpc/zod.ts';
import { type ExecRequestsDeps, ExecRequests } from '../exec/exec-requests.ts';
import type { EventBus } from '../../system/event-bus.ts';
import type { RemoteChange } from '../../storage/vault-interface.ts';
import { Approvals, type ApprovalsDeps } from './approvals.ts';

/** Messages between hosts about commands. */
const approvalSignal = z.discriminatedUnion('type', [
  /** Asks the host that runs this command to stop it. */
  z.object({ type: z.literal('exec.cancel'), requestId: z.string() }),
  /** More output of a command, for the clients of the active host. */
  z.object({ type: z.literal('exec.output'), sessionKey: z.string().nullable(), payload: events['exec.output'] }),
]);

/** Approvals and command requests. Loaded when the first one is made, or an earlier host has left one. */
export interface ApprovalService {
  exec: ExecRequests;
  approvals: Approvals;
  /** Called when other hosts have changed records. */
  refresh(changes: readonly RemoteChange[]): Promise<void>;
  stop(): void;
}

export type ApprovalServiceDeps = Omit<ExecRequestsDeps & ApprovalsDeps, 'exec' | 'hub'> & { hub: EventBus };

/** Resolves after handling what earlier hosts have left. */
export async function openApprovalService({ hub, ...deps }: ApprovalServiceDeps): Promise<ApprovalService> {
  const { sync, fault } = deps;
  const relayingHub: Pick<EventBus, 'emit'> = {
    emit(event: AnyEvent, sessionKey, connId) {
      hub.emit(event, sessionKey, connId);
      if (event.event !== 'exec.output' || sync?.state().role !== 'replica') return;
      // If no host is active, there is no client to receive it.
      sync.signal(undefined, { type: event.event, sessionKey, payload: event.payload }).catch(() => false);
    },
  };
  const exec = new ExecRequests({ ...deps, hub: relayingHub });
  const approvals = new Approvals({ ...deps, hub, exec });
  const unlisten = sync?.onsignal((_from, payload) => {
    const signal = approvalSignal.safeParse(payload);
    if (!signal.success) return;
    if (signal.data.type === 'exec.output') hub.emit({ event: 'exec.output', payload: signal.data.payload }, signal.data.sessionKey);
    else exec.cancel(signal.data.requestId).catch(fault);
  });
  await Promise.all([exec.start(), approvals.start()]);
  return {
    exec,
    approvals,
    async refresh(changes) {
      const keys = (store: RemoteChange['store']): string[] => changes.flatMap((change) => (change.store === store ? [change.key] : []));
      await Promise.all([exec.refresh(keys('execRequests')), approvals.refresh(keys('approvals'))]);
    },
    stop() {
      unlisten?.();
      exec.stop();
      approvals.stop();
    },
  };
}
