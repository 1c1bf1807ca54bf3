import type { Approval } from '#shared/rpc/methods/approval-contracts.ts';
import type { ExecPolicy, ExecRequest } from '#shared/rpc/methods/exec-contracts.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { announcer } from '#app/state/announcer.svelte.ts';
import { readSetting } from '#app/state/read-setting.ts';

/** A permission to run without asking: for a tool or a pattern, for the same after reading from some sources, or for exactly one command. */
export type AllowedAction =
  | { kind: 'tool'; id: string; name: string }
  | { kind: 'after-reading'; id: string; name: string; sources: string[] }
  | { kind: 'command'; id: string; policy: ExecPolicy };

/** Decided approvals of tool calls, and grants for "always". Pending approvals are in `approvals`. */
class ApprovalRecords {
  /** The newest first; null before the first answer. */
  resolved = $state.raw<Approval[] | null>(null);
  allowed = $state.raw<AllowedAction[] | null>(null);
  problem = $state<Problem | null>(null);
  #requests = $state.raw<ReadonlyMap<string, ExecRequest>>(new Map());
  #loadCount = 0;

  /** Loads all records, now and at each change. Returns a function that stops it. */
  watch(): () => void {
    void this.load();
    const stops = (['approval.resolved', 'exec.resolved', 'config.changed'] as const).map((event) =>
      gateway.on(event, () => void this.load()),
    );
    return () => {
      for (const stop of stops) stop();
    };
  }

  async load(): Promise<void> {
    const loadId = ++this.#loadCount;
    try {
      const [{ approvals }, { requests }, { policies }, tools, grants] = await Promise.all([
        gateway.call('approvals.list', { status: 'all' }),
        gateway.call('exec.list', {}),
        gateway.call('exec.policies', {}),
        readSetting('tools.policies'),
        readSetting('tools.afterReading'),
      ]);
      if (loadId !== this.#loadCount) return;
      this.resolved = approvals.filter(({ status }) => status !== 'pending');
      this.#requests = new Map(requests.map((request) => [request.requestId, request]));
      this.allowed = [
        ...toAllowedTools(tools),
        ...toGrants(grants),
        ...policies.map((policy) => ({ kind: 'command' as const, id: policy.hash, policy })),
      ];
      this.problem = null;
    } catch (error) {
      if (loadId === this.#loadCount && !isConnectionLost(error)) this.problem = toProblem(error, m.approvals_doing_read());
    }
  }

  /** The request of a command, without its output. */
  findRequest({ requestId }: Approval): ExecRequest | undefined {
    return requestId === undefined ? undefined : this.#requests.get(requestId);
  }

  /** The request of a command with its output so far. This and the following methods reject if the gateway refuses. */
  async fetchOutput(requestId: string): Promise<ExecRequest> {
    return (await gateway.call('exec.get', { requestId })).request;
  }

  async endCommand(requestId: string): Promise<void> {
    await gateway.call('exec.cancel', { requestId });
    announcer.announce(m.approvals_command_ended());
  }

  /** Revokes a permission: the action needs approval again. */
  async revoke(allowed: AllowedAction): Promise<void> {
    if (allowed.kind === 'command') await gateway.call('exec.forget', { hash: allowed.policy.hash });
    else {
      const setting = allowed.kind === 'tool' ? 'policies' : 'afterReading';
      await gateway.call('config.patch', { patch: { tools: { [setting]: { [allowed.name]: null } } } });
    }
    this.allowed = (this.allowed ?? []).filter(({ id }) => id !== allowed.id);
    announcer.announce(m.approvals_asks_again());
  }
}

const toEntries = (setting: unknown): [string, unknown][] => Object.entries(typeof setting === 'object' && setting !== null ? setting : {});

const toAllowedTools = (policies: unknown): AllowedAction[] =>
  toEntries(policies).flatMap(([name, policy]) => (policy === 'auto' ? [{ kind: 'tool', id: `tool ${name}`, name }] : []));

const toGrants = (grants: unknown): AllowedAction[] =>
  toEntries(grants).flatMap(([name, sources]) => {
    const sourceNames = Array.isArray(sources) ? sources.filter((source) => typeof source === 'string') : [];
    return sourceNames.length > 0 ? [{ kind: 'after-reading', id: `after ${name}`, name, sources: sourceNames }] : [];
  });

export const approvalRecords = new ApprovalRecords();
