import { getTicks } from '#shared/cron-schedule.ts';
import type { DeliverySettings } from '../../config/sections/delivery-settings.ts';
import type { DeliveryRecord } from '../../storage/records/delivery-record.ts';
import type { DeliveryRequest } from './carrier.ts';

/** Ticks of a daily time such as `22:00`, also across changes of the clock. */
function getDailyTicks(time: string, timeZone: string): ReturnType<typeof getTicks> {
  const [hour = '0', minute = '0'] = time.split(':');
  return getTicks({ kind: 'cron', expr: `${Number(minute)} ${Number(hour)} * * *` }, 0, timeZone);
}

/** Time until which a delivery waits, and why; empty if it is sent at once. `timeZone`: the configured one. */
export function planSendTime(
  { isUrgent = false, isForDigest = false }: Pick<DeliveryRequest, 'isUrgent' | 'isForDigest'>,
  { quietHours, digest }: Pick<DeliverySettings, 'quietHours' | 'digest'>,
  now: number,
  timeZone: string,
): Pick<DeliveryRecord, 'nextAt' | 'waitsFor'> {
  if (isUrgent) return {};
  const zone = quietHours?.timeZone ?? timeZone;
  if (isForDigest && digest) {
    const nextAt = getDailyTicks(digest.at, zone).after(now);
    return nextAt === null ? {} : { nextAt, waitsFor: 'digest' };
  }
  if (!quietHours) return {};
  const [begins, ends] = [getDailyTicks(quietHours.from, zone), getDailyTicks(quietHours.to, zone)];
  const isQuiet = (begins.upTo(now) ?? -Infinity) > (ends.upTo(now) ?? -Infinity);
  const nextAt = isQuiet ? ends.after(now) : null;
  return nextAt === null ? {} : { nextAt, waitsFor: 'quietHours' };
}
