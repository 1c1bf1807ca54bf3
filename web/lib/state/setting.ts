import { RpcError } from '#shared/rpc/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';

/** A setting; undefined if it is not set, whatever its default. */
export async function setting(key: string): Promise<unknown> {
  try {
    const { value, isDefault } = await gateway.call('config.get', { key });
    return isDefault ? undefined : value;
  } catch (error) {
    if (error instanceof RpcError && error.code === 'NOT_FOUND') return undefined;
    throw error;
  }
}
