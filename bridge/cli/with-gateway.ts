import type { GatewayClient } from '#shared/client/client.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { connectGateway, type ConnectionOptions } from './connect-gateway.ts';
import { CommandError, toErrorLine } from './command-error.ts';

const CONNECT_MS = 10_000;

export interface WithGatewayOptions extends ConnectionOptions {
  json?: boolean;
}

/** Connects to a running gateway, does `work` within `--timeout`, and closes the connection. `name` is the command. Throws `CommandError`. */
export async function withGateway(
  name: string,
  options: WithGatewayOptions,
  work: (client: GatewayClient) => Promise<void>,
): Promise<void> {
  const { timeout = 30_000 } = options;
  const client = await connectGateway({ ...options, name, timeoutMs: Math.min(timeout, CONNECT_MS) });
  const deadline = Promise.withResolvers<never>();
  const timer = setTimeout(() => deadline.reject(new CommandError('The gateway didn’t answer in time. Try a longer --timeout.')), timeout);
  try {
    await Promise.race([work(client), deadline.promise]);
  } catch (error) {
    if (error instanceof RpcError) throw new CommandError(`The gateway rejected the request: ${toErrorLine(error)}`, 1, { cause: error });
    throw error;
  } finally {
    clearTimeout(timer);
    client.close();
  }
}
