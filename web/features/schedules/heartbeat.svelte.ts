import type { DeliverOptions } from '#shared/rpc/delivery-target.ts';
import type { MethodResult } from '#shared/rpc/methods/index.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { announcer } from '#app/state/announcer.svelte.ts';

type HeartbeatStatus = MethodResult<'cron.heartbeat'>;

interface HeartbeatFields {
  everyMs: number;
  /** Content of the agent's HEARTBEAT.md; empty removes it. */
  checklist: string;
  deliver: DeliverOptions | null;
}

const PATH = 'HEARTBEAT.md';

/** The heartbeat: its settings, its last result and what it costs. */
class Heartbeat {
  /** Null before the first answer, and with a host of an older build. */
  status = $state.raw<HeartbeatStatus | null>(null);
  problem = $state.raw<Problem | null>(null);

  /** Loads the state, now and after each run or change of the configuration. Returns a function that stops it. */
  watch(): () => void {
    void this.load();
    const stops = [gateway.on('cron.changed', () => void this.load()), gateway.on('config.changed', () => void this.load())];
    return () => stops.forEach((stop) => stop());
  }

  async load(): Promise<void> {
    try {
      this.status = await gateway.call('cron.heartbeat', {});
      this.problem = null;
    } catch (error) {
      const isUnknown = error instanceof RpcError && error.code === 'METHOD_NOT_FOUND';
      if (!isUnknown && !isConnectionLost(error)) this.problem = toProblem(error, m.schedules_doing_read_heartbeat());
    }
  }

  /** Rejects if the gateway refuses, like the methods below. */
  async setEnabled(enabled: boolean): Promise<void> {
    await gateway.call('config.patch', { patch: { heartbeat: { enabled } } });
    announcer.announce(enabled ? m.schedules_heartbeat_on() : m.schedules_heartbeat_off());
    await this.load();
  }

  /** The checklist; empty if there is none. */
  async readChecklist(): Promise<string> {
    try {
      return (await gateway.call('workspace.read', { workspace: await this.#findWorkspace(), path: PATH })).content;
    } catch (error) {
      if (error instanceof RpcError && error.code === 'NOT_FOUND') return '';
      throw error;
    }
  }

  async save({ everyMs, checklist, deliver }: HeartbeatFields): Promise<void> {
    const workspace = await this.#findWorkspace();
    const hasChanged = checklist.trim() !== (await this.readChecklist()).trim();
    if (hasChanged && checklist.trim() !== '')
      await gateway.call('workspace.write', { workspace, path: PATH, content: `${checklist.trim()}\n` });
    else if (hasChanged) await gateway.call('workspace.remove', { workspace, path: PATH });
    await gateway.call('config.patch', { patch: { heartbeat: { everyMs, deliver } } });
    announcer.announce(m.schedules_heartbeat_saved());
    await this.load();
  }

  /** Workspace of the agent that gets heartbeats. */
  async #findWorkspace(): Promise<string> {
    const agentId = this.status?.agentId ?? 'main';
    const { agents } = await gateway.call('agents.list', {});
    return agents.find(({ id }) => id === agentId)?.config.workspace ?? agentId;
  }
}

export const heartbeat = new Heartbeat();
