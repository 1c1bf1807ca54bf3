import { type AnyEvent, events } from '#shared/rpc/events.ts';
import { z } from '#shared/rpc/zod.ts';
import { type ExecDeps, ExecRequests } from '../exec/requests.ts';
import type { Hub } from '../hub.ts';
import type { ForeignChange } from '../vault.ts';
import { Approvals, type ApprovalsDeps } from './approvals.ts';

/** What hosts say to one another of commands. */
const deskSignal = z.discriminatedUnion('type', [
  /** End this command, which you run. */
  z.object({ type: z.literal('exec.cancel'), requestId: z.string() }),
  /** More output of a command, for the clients of the host that serves. */
  z.object({ type: z.literal('exec.output'), sessionKey: z.string().nullable(), payload: events['exec.output'] }),
]);

/** Where questions for a person lie. Loaded when the first one is asked, or one was left. */
export interface Desk {
  exec: ExecRequests;
  approvals: Approvals;
  /** Other hosts have changed something. */
  heard(changes: readonly ForeignChange[]): Promise<void>;
  stop(): void;
}

export type DeskDeps = Omit<ExecDeps & ApprovalsDeps, 'exec' | 'hub'> & { hub: Hub };

/** Sees to what earlier hosts have left before it resolves. */
export async function openDesk({ hub, ...deps }: DeskDeps): Promise<Desk> {
  const { sync, fault } = deps;
  const told: Pick<Hub, 'emit'> = {
    emit(event: AnyEvent, sessionKey, connId) {
      hub.emit(event, sessionKey, connId);
      if (event.event !== 'exec.output' || sync?.state().role !== 'replica') return;
      // Where nobody serves nobody listens.
      sync.signal(undefined, { type: event.event, sessionKey, payload: event.payload }).catch(() => false);
    },
  };
  const exec = new ExecRequests({ ...deps, hub: told });
  const approvals = new Approvals({ ...deps, hub, exec });
  const unlisten = sync?.onsignal((_from, payload) => {
    const signal = deskSignal.safeParse(payload);
    if (!signal.success) return;
    if (signal.data.type === 'exec.output') hub.emit({ event: 'exec.output', payload: signal.data.payload }, signal.data.sessionKey);
    else exec.cancel(signal.data.requestId).catch(fault);
  });
  await Promise.all([exec.start(), approvals.start()]);
  return {
    exec,
    approvals,
    async heard(changes) {
      const keys = (store: ForeignChange['store']): string[] => changes.flatMap((change) => (change.store === store ? [change.key] : []));
      await Promise.all([exec.heard(keys('execRequests')), approvals.heard(keys('approvals'))]);
    },
    stop() {
      unlisten?.();
      exec.stop();
      approvals.stop();
    },
  };
}
