import { RpcError } from '#shared/rpc/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';

/** Reads a configuration value; undefined if it is not set. */
export async function setting(key: string): Promise<unknown> {
  try {
    return (await gateway.call('config.get', { key })).value;
  } catch (error) {
    if (error instanceof RpcError && error.code === 'NOT_FOUND') return undefined;
    throw error;
  }
}
