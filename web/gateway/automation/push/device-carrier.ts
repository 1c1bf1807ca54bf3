import type { Lazy } from '../../system/modules.ts';
import { PlatformError } from '../channels/platform-request.ts';
import type { Carrier, DeliveryRequest } from '../deliveries/carrier.ts';
import { toDecision } from '../approvals/decision-tokens.ts';
import { type PushDevices, toSentId } from './push-devices.ts';
import type { PushPayload } from './push-payload.ts';

/** Carries deliveries to browsers by Web Push, each of which sends a receipt. */
export function createDeviceCarrier(pushDevices: Lazy<PushDevices>): Carrier {
  return {
    async send(delivery, { sentIds, onSent, signal }) {
      const push = await pushDevices.load();
      const { target } = delivery;
      if (target.kind !== 'device') throw new PlatformError('This is not a device.', { isUnsent: true, refused: true });
      const ids = target.deviceId === undefined ? await push.listIds() : [target.deviceId];
      if (ids.length === 0) throw new PlatformError('No device receives push notifications.', { isUnsent: true, refused: true });
      const sent = [...sentIds];
      const failures: unknown[] = [];
      for (const id of ids) {
        const sentId = toSentId(id, delivery.id);
        if (sent.includes(sentId)) continue;
        try {
          const receipts = await push.createReceipts(delivery.id, id);
          await push.send(id, { ...toPayload(delivery), receipts }, { expiresAt: delivery.expiresAt, isUrgent: delivery.isUrgent, signal });
        } catch (error) {
          signal.throwIfAborted();
          failures.push(error);
          continue;
        }
        sent.push(sentId);
        await onSent(sentId);
      }
      // One device suffices: the person has been reached, and another attempt would not repeat it there.
      if (sent.length === 0) throw failures[0];
      return { state: 'accepted', sentIds: sent };
    },
  };
}

function toPayload({ key, title, text, path = '/', buttons = [], source, expiresAt }: DeliveryRequest): PushPayload {
  const answers = buttons.flatMap(({ value }) => {
    const kind = toDecision(value);
    return kind ? [{ kind, value }] : [];
  });
  const isApproval = source.kind === 'approval';
  return {
    kind: isApproval ? 'approval' : 'message',
    // Equal to the tag of the app's own notification about the approval, which it replaces.
    tag: isApproval ? `approval:${source.id}` : key,
    ...(title === undefined || isApproval ? {} : { title }),
    ...{ body: text, path },
    ...(answers.length > 0 ? { buttons: answers } : {}),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}
