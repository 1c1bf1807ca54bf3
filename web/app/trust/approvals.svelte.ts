import type { Approval } from '#shared/rpc/methods/approval-contracts.ts';
import type { ExecRequest } from '#shared/rpc/methods/exec-contracts.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { isConnectionLost } from '#kit/problems.ts';
import { gateway } from '../connection/gateway-connection.svelte.ts';
import { m } from '../i18n/messages.ts';
import { announcer } from '../state/announcer.svelte.ts';
import { gatewayClock } from '../connection/gateway-clock.svelte.ts';

/** Pending approvals: tool calls with side effects, and commands. */
class Approvals {
  /** Oldest first. */
  pending = $state.raw<Approval[]>([]);
  #started = false;

  start(): void {
    if (this.#started) return;
    this.#started = true;
    gatewayClock.start();
    gateway.on('approval.requested', ({ approval }) => {
      announcer.announce(m.chat_approval_asked({ summary: approval.summary }));
      void this.load();
    });
    for (const event of ['approval.resolved', 'exec.resolved'] as const) gateway.on(event, () => void this.load());
  }

  async load(): Promise<void> {
    try {
      this.pending = (await gateway.call('approvals.list', {})).approvals.toReversed();
    } catch (error) {
      // A host of an older build has no approvals.
      const unknown = error instanceof RpcError && error.code === 'METHOD_NOT_FOUND';
      if (!unknown && !isConnectionLost(error)) throw error;
      this.pending = [];
    }
  }

  /** A command with the text of its scripts. Rejects if the gateway refuses. */
  async request(requestId: string): Promise<ExecRequest> {
    return (await gateway.call('exec.get', { requestId })).request;
  }

  /** Rejects if the gateway refuses. */
  async resolve({ id }: Approval, decision: 'approve' | 'deny', always = false): Promise<void> {
    await gateway.call('approvals.resolve', { id, decision, always });
    this.pending = this.pending.filter((approval) => approval.id !== id);
    announcer.announce(decision === 'approve' ? m.chat_approval_said_approved() : m.chat_approval_said_denied());
  }
}

export const approvals = new Approvals();
