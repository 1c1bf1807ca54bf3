import { coalesce } from '#shared/async/coalesce.ts';
import type { DeliveryTarget } from '#shared/rpc/delivery-target.ts';
import type { Approval } from '#shared/rpc/methods/approval-contracts.ts';
import { ENGLISH_PUSH_TEXTS as TEXTS } from '#shared/push-texts.ts';
import { toCanonicalJson } from '#shared/canonical-json.ts';
import type { ApprovalService } from '../../agent/approvals/approval-service.ts';
import type { Settings } from '../../config/settings-schema.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { SyncPort } from '../../sync/sync-port.ts';
import type { EventBus } from '../../system/event-bus.ts';
import type { Lazy, Loadable } from '../../system/modules.ts';
import type { Button, ButtonPress } from '../channels/channel-adapter.ts';
import type { RunningChannels } from '../channels/running-channels.ts';
import type { Deliveries } from '../deliveries/deliveries.ts';
import type { PushDevices } from '../push/push-devices.ts';
import { type DecisionSubject, DecisionTokens, getApprovalId, toDecision } from './decision-tokens.ts';
import { type ApprovalSubject, describeApproval, hashApproval } from './describe-approval.ts';

export interface ApprovalDeliveriesDeps {
  vault: Pick<Vault, 'secrets'>;
  hub: EventBus;
  approvalService: Lazy<Pick<ApprovalService, 'approvals'>>;
  deliveries: Lazy<Pick<Deliveries, 'send' | 'findSent'>>;
  pushDevices: Lazy<Pick<PushDevices, 'listIds'>>;
  runningChannels: Pick<Loadable<Pick<RunningChannels, 'usePosts'>>, 'loaded'>;
  sync: SyncPort | undefined;
  settings(): Settings;
  fault(error: unknown): unknown;
}

/** Effect of a button. */
interface AnswerResult {
  outcome: 'approved' | 'denied' | 'expired' | 'cancelled' | 'decided' | 'unknown';
  /** One sentence for the person. */
  message: string;
}

const UNKNOWN: AnswerResult = { outcome: 'unknown', message: 'This button is not valid any more. Open Perch to decide.' };
const RESULT_MESSAGES = {
  approved: 'Allowed.',
  denied: 'Denied.',
  expired: 'The request has expired.',
  cancelled: 'The request was withdrawn.',
};

/** Sends pending approvals to the owner's accounts and devices (`approvals.deliver`), and takes the decisions that are made there. */
export class ApprovalDeliveries {
  readonly #deps: ApprovalDeliveriesDeps;
  readonly #tokens: DecisionTokens;
  readonly #unsubscribe: () => void;
  readonly #stopping = new AbortController();
  readonly #sendPending = coalesce(() => this.#sendPendingOnce());

  constructor(deps: ApprovalDeliveriesDeps) {
    this.#deps = deps;
    this.#tokens = new DecisionTokens(deps.vault.secrets);
    this.#unsubscribe = deps.hub.add({
      all: true,
      follows: () => false,
      push: ({ event, payload }) => {
        if (event === 'approval.requested') void this.refresh();
        if (event === 'approval.resolved') this.#showDecision(payload.approval).catch(deps.fault);
      },
    });
  }

  /** Sends the pending approvals that have not been sent yet. */
  async refresh(): Promise<void> {
    if (this.#isActive()) await this.#sendPending().catch(this.#deps.fault);
  }

  stop(): void {
    this.#unsubscribe();
    this.#stopping.abort();
  }

  /** Handles a press of a button on a channel. Undefined: the button is not about an approval. */
  async handlePress(channelId: string, { user, isPrivate, value }: ButtonPress): Promise<AnswerResult | undefined> {
    if (toDecision(value) === undefined) return undefined;
    if (!isPrivate) return { outcome: 'unknown', message: 'Requests can only be decided in a private chat.' };
    if (!this.#isOwner(channelId, user.id)) return { outcome: 'unknown', message: 'Only the owner can decide.' };
    return this.#answer(
      value,
      `channel:${channelId}`,
      (target) => target.kind === 'channel' && target.channelId === channelId && target.to === user.id,
    );
  }

  /** Handles a button of a push notification: the value alone shows that the device got it. */
  answerPush(value: string): Promise<AnswerResult> {
    return this.#answer(value, 'push', ({ kind }) => kind === 'device');
  }

  #isActive(): boolean {
    return this.#deps.sync?.state().role !== 'replica';
  }

  #isOwner(channelId: string, userId: string): boolean {
    return this.#deps.settings().channels[channelId]?.owners?.includes(userId) === true;
  }

  /** The targets to send to: one for each account of the owner, and for each device. */
  async #listTargets(): Promise<DeliveryTarget[]> {
    const { settings, pushDevices } = this.#deps;
    const targets = settings().approvals.deliver;
    const devices = targets.some(({ kind }) => kind === 'device') ? await (await pushDevices.load()).listIds() : [];
    return targets.flatMap((target): DeliveryTarget[] => {
      switch (target.kind) {
        case 'device':
          return devices
            .filter((id) => target.deviceId === undefined || target.deviceId === id)
            .map((deviceId) => ({ kind: 'device', deviceId }));
        case 'channel':
          return (settings().channels[target.channelId]?.owners ?? [])
            .filter((owner) => target.to === undefined || target.to === owner)
            .map((to) => ({ kind: 'channel', channelId: target.channelId, to }));
        case 'chat':
          return [];
      }
    });
  }

  async #sendPendingOnce(): Promise<void> {
    const { approvalService, settings } = this.#deps;
    if (settings().approvals.deliver.length === 0) return;
    const { approvals } = await approvalService.load();
    const [pending, targets] = await Promise.all([approvals.list('pending'), this.#listTargets()]);
    for (const { id } of pending) {
      const subject = await approvals.find(id);
      if (subject) for (const target of targets) await this.#send(subject, target).catch(this.#deps.fault);
    }
  }

  async #send(subject: ApprovalSubject, target: DeliveryTarget): Promise<void> {
    const { id, expiresAt } = subject.approval;
    const { text, isComplete } = describeApproval(subject, target.kind);
    const signed: DecisionSubject = { approvalId: id, hash: await hashApproval(subject), target };
    const buttons: Button[] = [];
    const isChannel = target.kind === 'channel';
    const [allow, deny] = await Promise.all([
      isComplete ? this.#tokens.create('approve', signed) : undefined,
      this.#tokens.create('deny', signed),
    ]);
    if (allow !== undefined) buttons.push({ label: TEXTS.approve, value: allow, ...(isChannel ? { emoji: '✅' } : {}) });
    if (deny !== undefined) buttons.push({ label: TEXTS.deny, value: deny, ...(isChannel ? { emoji: '❌' } : {}) });
    const deliveries = await this.#deps.deliveries.load();
    await deliveries.send({
      ...{ key: toDeliveryKey(id, target), target, text, title: TEXTS.approval, path: '/approvals', buttons },
      ...{ source: { kind: 'approval', id }, isUrgent: true, expiresAt },
    });
  }

  async #answer(value: string, via: string, accepts: (target: DeliveryTarget) => boolean): Promise<AnswerResult> {
    const [approvalId, decision] = [getApprovalId(value), toDecision(value)];
    if (approvalId === undefined || decision === undefined) return UNKNOWN;
    const { approvals } = await this.#deps.approvalService.load();
    const subject = await approvals.find(approvalId);
    if (!subject) return UNKNOWN;
    const hash = await hashApproval(subject);
    const targets = (await this.#listTargets()).filter(accepts);
    const matches = await Promise.all(targets.map((target) => this.#tokens.verify(value, { approvalId, hash, target })));
    if (!matches.includes(true)) return UNKNOWN;
    if (subject.approval.status !== 'pending') return toDecidedResult(subject.approval);
    const resolved = await approvals.resolve(approvalId, { decision, always: false, via });
    // Another decision, or the end of its time, may have come first.
    if (resolved.status !== (decision === 'approve' ? 'approved' : 'denied') || resolved.resolvedVia !== via)
      return toDecidedResult(resolved);
    return { outcome: resolved.status, message: RESULT_MESSAGES[resolved.status] };
  }

  /** Removes the buttons of posts about a decided approval, and adds the decision. */
  async #showDecision(approval: Approval): Promise<void> {
    const { deliveries, approvalService, runningChannels, fault } = this.#deps;
    const { loaded: channels } = runningChannels;
    const targets = (await this.#listTargets()).filter((target) => target.kind === 'channel');
    if (targets.length === 0 || !channels || !this.#isActive()) return;
    const subject = await (await approvalService.load()).approvals.find(approval.id);
    if (!subject) return;
    const text = `${describeApproval(subject, 'channel').text}\n\n${describeDecision(approval)}`;
    for (const { channelId, to = '' } of targets) {
      const sent = await (await deliveries.load()).findSent(toDeliveryKey(approval.id, { kind: 'channel', channelId, to }));
      const last = sent?.sentIds.at(-1);
      if (last === undefined) continue;
      const { signal } = this.#stopping;
      await channels.usePosts(channelId, signal, async (adapter, ends) => adapter.edit?.(to, last, text, ends)).catch(fault);
    }
  }
}

const toDeliveryKey = (approvalId: string, target: DeliveryTarget): string => `approval:${approvalId}:${toCanonicalJson(target)}`;

function toDecidedResult(approval: Approval): AnswerResult {
  if (approval.status === 'expired' || approval.status === 'cancelled')
    return { outcome: approval.status, message: RESULT_MESSAGES[approval.status] };
  return { outcome: 'decided', message: `Already decided: ${describeDecision(approval)}` };
}

/** The end of an approval, for the person. */
function describeDecision({ status, resolvedVia = 'app' }: Approval): string {
  if (status === 'expired' || status === 'cancelled') return RESULT_MESSAGES[status];
  const where =
    resolvedVia === 'app' ? 'in Perch' : resolvedVia === 'push' ? 'in a notification' : `on ${resolvedVia.replace(/^channel:/, '')}`;
  return `${status === 'denied' ? 'Denied' : 'Allowed'} by the owner ${where}.`;
}
