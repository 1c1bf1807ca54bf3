import type { MethodResult } from '#shared/rpc/methods/index.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { isLost, type Problem, problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { m } from '#lib/i18n/pages.ts';
import { announcer } from './announcer.svelte.ts';

export type PairedDevice = MethodResult<'device.list'>['devices'][number];

/** Devices that are paired with the gateway, each with a token of its own. */
class Paired {
  /** Null before the first answer. */
  devices = $state.raw<PairedDevice[] | null>(null);
  problem = $state<Problem | null>(null);

  async load(): Promise<void> {
    try {
      this.devices = (await gateway.call('device.list', {})).devices;
      this.problem = null;
    } catch (error) {
      // A host of an older build pairs nobody.
      const unknown = error instanceof RpcError && error.code === 'METHOD_NOT_FOUND';
      if (!unknown && !isLost(error)) this.problem = problemOf(error, m.devices_doing_read());
    }
  }

  /** Rejects where the gateway refuses. */
  async revoke({ id, name }: PairedDevice): Promise<void> {
    await gateway.call('device.revoke', { deviceId: id });
    this.devices = (this.devices ?? []).filter((device) => device.id !== id);
    announcer.say(m.devices_revoked({ name }));
  }
}

export const paired = new Paired();
