import type { DeliveryTarget } from '#shared/rpc/delivery-target.ts';
import type { Delivery } from '#shared/rpc/methods/delivery-contracts.ts';
import { m } from '#app/i18n/messages.ts';
import { destinations } from '#app/state/destinations.svelte.ts';
import { deliveries } from './deliveries.svelte.ts';

const STATE_TEXTS: Record<Delivery['state'], () => string> = {
  waiting: () => m.deliveries_state_waiting(),
  sending: () => m.deliveries_state_sending(),
  accepted: () => m.deliveries_state_accepted(),
  delivered: () => m.deliveries_state_delivered(),
  read: () => m.deliveries_state_read(),
  unsent: () => m.deliveries_state_unsent(),
  unconfirmed: () => m.deliveries_state_unconfirmed(),
  combined: () => m.deliveries_state_combined(),
};
const WAIT_TEXTS: Record<NonNullable<Delivery['waitsFor']>, () => string> = {
  approval: () => m.deliveries_waits_approval(),
  quietHours: () => m.deliveries_waits_quiet_hours(),
  digest: () => m.deliveries_waits_digest(),
  retry: () => m.deliveries_waits_retry(),
};
const SOURCE_TEXTS: Record<Delivery['source']['kind'], () => string> = {
  job: () => m.deliveries_source_job(),
  plan: () => m.deliveries_source_plan(),
  hook: () => m.deliveries_source_hook(),
  heartbeat: () => m.deliveries_source_heartbeat(),
  tool: () => m.deliveries_source_tool(),
  approval: () => m.deliveries_source_approval(),
  test: () => m.deliveries_source_test(),
};

export const getStateText = ({ state, waitsFor }: Delivery): string =>
  state === 'waiting' && waitsFor !== undefined ? WAIT_TEXTS[waitsFor]() : STATE_TEXTS[state]();

export const getSourceText = ({ source }: Delivery): string => SOURCE_TEXTS[source.kind]();

/** Tone of a state's mark. */
export function getTone({ state }: Delivery): 'good' | 'warn' | 'bad' | '' {
  if (state === 'delivered' || state === 'read') return 'good';
  if (state === 'unsent') return 'bad';
  return state === 'unconfirmed' ? 'warn' : '';
}

/** A target in words, such as `Telegram · 123`. */
export function describeTarget(target: DeliveryTarget): string {
  if (target.kind === 'chat') return m.deliveries_kind_chat();
  if (target.kind === 'device') return m.deliveries_kind_device();
  const label = deliveries.channels.find(({ id }) => id === target.channelId)?.label ?? target.channelId;
  return target.to === undefined ? label : `${label} · ${target.to}`;
}

/** Name of the destination with that target, else the target in words. */
export function getTargetName(target: DeliveryTarget): string {
  const key = JSON.stringify(Object.entries(target).sort());
  const same = destinations.list?.find((each) => JSON.stringify(Object.entries(each.target).sort()) === key);
  return same?.name ?? describeTarget(target);
}
