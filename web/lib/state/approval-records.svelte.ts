import type { Approval } from '#shared/rpc/methods/approvals.ts';
import type { ExecPolicy, ExecRequest } from '#shared/rpc/methods/exec.ts';
import { isLost, type Problem, problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { m } from '#lib/i18n/pages.ts';
import { announcer } from './announcer.svelte.ts';
import { setting } from './setting.ts';

/** A permission to run without asking: for a tool or a pattern, for the same after reading from some sources, or for exactly one command. */
export type Allowed =
  | { kind: 'tool'; id: string; name: string }
  | { kind: 'after-reading'; id: string; name: string; sources: string[] }
  | { kind: 'command'; id: string; policy: ExecPolicy };

/** Decided approvals of tool calls, and grants for "always". Pending approvals are in `approvals`. */
class ApprovalRecords {
  /** The newest first; null before the first answer. */
  past = $state.raw<Approval[] | null>(null);
  allowed = $state.raw<Allowed[] | null>(null);
  problem = $state<Problem | null>(null);
  #requests = $state.raw<ReadonlyMap<string, ExecRequest>>(new Map());
  #asked = 0;

  /** Reads all of it, now and at each change; the result stops it. */
  show(): () => void {
    void this.load();
    const stops = (['approval.resolved', 'exec.resolved', 'config.changed'] as const).map((event) =>
      gateway.on(event, () => void this.load()),
    );
    return () => {
      for (const stop of stops) stop();
    };
  }

  async load(): Promise<void> {
    const asked = ++this.#asked;
    try {
      const [{ approvals }, { requests }, { policies }, tools, grants] = await Promise.all([
        gateway.call('approvals.list', { status: 'all' }),
        gateway.call('exec.list', {}),
        gateway.call('exec.policies', {}),
        setting('tools.policies'),
        setting('tools.afterReading'),
      ]);
      if (asked !== this.#asked) return;
      this.past = approvals.filter(({ status }) => status !== 'pending');
      this.#requests = new Map(requests.map((request) => [request.requestId, request]));
      this.allowed = [
        ...alwaysAuto(tools),
        ...toGrants(grants),
        ...policies.map((policy) => ({ kind: 'command' as const, id: policy.hash, policy })),
      ];
      this.problem = null;
    } catch (error) {
      if (asked === this.#asked && !isLost(error)) this.problem = problemOf(error, m.approvals_doing_read());
    }
  }

  /** The request of a command, without its output. */
  requestOf({ requestId }: Approval): ExecRequest | undefined {
    return requestId === undefined ? undefined : this.#requests.get(requestId);
  }

  /** The same with its output so far. All of these reject where the gateway refuses. */
  async output(requestId: string): Promise<ExecRequest> {
    return (await gateway.call('exec.get', { requestId })).request;
  }

  async end(requestId: string): Promise<void> {
    await gateway.call('exec.cancel', { requestId });
    announcer.say(m.approvals_command_ended());
  }

  /** From now on it is asked for again. */
  async revoke(allowed: Allowed): Promise<void> {
    if (allowed.kind === 'command') await gateway.call('exec.forget', { hash: allowed.policy.hash });
    else {
      const setting = allowed.kind === 'tool' ? 'policies' : 'afterReading';
      await gateway.call('config.patch', { patch: { tools: { [setting]: { [allowed.name]: null } } } });
    }
    this.allowed = (this.allowed ?? []).filter(({ id }) => id !== allowed.id);
    announcer.say(m.approvals_asks_again());
  }
}

const entriesOf = (setting: unknown): [string, unknown][] => Object.entries(typeof setting === 'object' && setting !== null ? setting : {});

const alwaysAuto = (policies: unknown): Allowed[] =>
  entriesOf(policies).flatMap(([name, policy]) => (policy === 'auto' ? [{ kind: 'tool', id: `tool ${name}`, name }] : []));

const toGrants = (grants: unknown): Allowed[] =>
  entriesOf(grants).flatMap(([name, sources]) => {
    const known = Array.isArray(sources) ? sources.filter((source) => typeof source === 'string') : [];
    return known.length > 0 ? [{ kind: 'after-reading', id: `after ${name}`, name, sources: known }] : [];
  });

export const approvalRecords = new ApprovalRecords();
