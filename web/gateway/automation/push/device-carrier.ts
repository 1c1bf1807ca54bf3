import type { Lazy } from '../../system/modules.ts';
import { PlatformError } from '../channels/platform-request.ts';
import type { Carrier, DeliveryRequest } from '../deliveries/carrier.ts';
import { toDecision } from '../approvals/decision-tokens.ts';
import type { PushDevices } from './push-devices.ts';
import type { PushPayload } from './push-payload.ts';

/** Carries deliveries to browsers by Web Push; the ids of what was sent are those of the devices. */
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
        if (sent.includes(id)) continue;
        try {
          await push.send(id, toPayload(delivery), { expiresAt: delivery.expiresAt, isUrgent: delivery.isUrgent, signal });
        } catch (error) {
          signal.throwIfAborted();
          failures.push(error);
          continue;
        }
        sent.push(id);
        await onSent(id);
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
