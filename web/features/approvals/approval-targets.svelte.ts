import type { DeliveryTarget } from '#shared/rpc/delivery-target.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { readSetting } from '#app/state/read-setting.ts';

/** An account on a channel that approvals can be sent to. */
interface ApprovalAccount {
  id: string;
  channelId: string;
  userId: string;
  name: string;
}

const toList = <T>(value: unknown): T[] => (Array.isArray(value) ? (value as T[]) : []);

/** Accounts and devices that pending approvals are sent to (`approvals.deliver`). */
class ApprovalTargets {
  /** Accounts that the owner has confirmed; null before they are loaded. */
  accounts = $state.raw<ApprovalAccount[] | null>(null);
  problem = $state.raw<Problem | null>(null);
  #targets = $state.raw<DeliveryTarget[]>([]);
  #owners = $state.raw<Record<string, string[]>>({});
  readonly sendsToDevices = $derived(this.#targets.some(({ kind }) => kind === 'device'));

  async load(): Promise<void> {
    try {
      const [targets, channels, { paired }] = await Promise.all([
        readSetting('approvals.deliver'),
        readSetting('channels'),
        gateway.call('channels.senders', {}),
      ]);
      this.#targets = toList<DeliveryTarget>(targets);
      const settings = Object.entries((channels ?? {}) as Record<string, { owners?: unknown }>);
      this.#owners = Object.fromEntries(settings.map(([id, { owners }]) => [id, toList<string>(owners)]));
      const owned = Object.entries(this.#owners).flatMap(([channelId, owners]) =>
        owners.map((userId) => ({ channelId, userId, name: userId })),
      );
      const accounts = new Map(
        [...owned, ...paired].map((account) => {
          const id = `${account.channelId}/${account.userId}`;
          return [id, { ...account, id, name: account.name || account.userId }];
        }),
      );
      this.accounts = [...accounts.values()];
      this.problem = null;
    } catch (error) {
      if (!isConnectionLost(error)) this.problem = toProblem(error, m.approvals_doing_read_targets());
    }
  }

  sendsTo({ channelId, userId }: ApprovalAccount): boolean {
    return (
      this.#owners[channelId]?.includes(userId) === true &&
      this.#targets.some((target) => target.kind === 'channel' && target.channelId === channelId && (target.to ?? userId) === userId)
    );
  }

  setDevices(enabled: boolean): Promise<void> {
    const others = this.#targets.filter(({ kind }) => kind !== 'device');
    return this.#save(enabled ? [...others, { kind: 'device' }] : others);
  }

  /** Turns an account on or off. One that is turned on becomes an account of the owner. */
  setAccount({ channelId, userId }: ApprovalAccount, enabled: boolean): Promise<void> {
    const owners = this.#owners[channelId] ?? [];
    const isChannel = (target: DeliveryTarget): boolean => target.kind === 'channel' && target.channelId === channelId;
    const before = this.#targets.filter(isChannel).flatMap((target) => (target.kind === 'channel' ? (target.to ?? owners) : []));
    const users = enabled ? [...new Set([...before, userId])] : before.filter((id) => id !== userId);
    const targets = [
      ...this.#targets.filter((target) => !isChannel(target)),
      ...users.map((to) => ({ kind: 'channel' as const, channelId, to })),
    ];
    const isNew = enabled && !owners.includes(userId);
    return this.#save(targets, isNew ? { [channelId]: { owners: [...owners, userId] } } : undefined);
  }

  async #save(deliver: DeliveryTarget[], channels?: Record<string, { owners: string[] }>): Promise<void> {
    try {
      await gateway.call('config.patch', { patch: { approvals: { deliver }, ...(channels ? { channels } : {}) } });
      await this.load();
    } catch (error) {
      this.problem = toProblem(error, m.approvals_doing_change_targets());
    }
  }
}

export const approvalTargets = new ApprovalTargets();
