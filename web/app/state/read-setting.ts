import { RpcError } from '#shared/rpc/rpc-error.ts';
import { gateway } from '../connection/gateway-connection.svelte.ts';

/** A setting; undefined if it is not set, whatever its default. */
export async function readSetting(key: string): Promise<unknown> {
  try {
    const { value, isDefault } = await gateway.call('config.get', { key });
    return isDefault ? undefined : value;
  } catch (error) {
    if (error instanceof RpcError && error.code === 'NOT_FOUND') return undefined;
    throw error;
  }
}
