import type { GatewayClient } from '#shared/client/client.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { connect, type ConnectionOptions } from './connect.ts';
import { CommandError, lineOf } from './errors.ts';

const CONNECT_MS = 10_000;

export interface GatewayOptions extends ConnectionOptions {
  json?: boolean;
}

/** Connects to a running gateway, does `work` within `--timeout`, and closes the connection. `name` is the command. Throws `CommandError`. */
export async function withGateway(name: string, options: GatewayOptions, work: (client: GatewayClient) => Promise<void>): Promise<void> {
  const { timeout = 30_000 } = options;
  const client = await connect({ ...options, name, timeoutMs: Math.min(timeout, CONNECT_MS) });
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new CommandError('The gateway didn’t answer in time. Try a longer --timeout.')), timeout);
  try {
    await Promise.race([work(client), late.promise]);
  } catch (error) {
    if (error instanceof RpcError) throw new CommandError(`The gateway rejected the request: ${lineOf(error)}`, 1, { cause: error });
    throw error;
  } finally {
    clearTimeout(timer);
    client.close();
  }
}
