import type { GatewayClient } from '#shared/client/client.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { connect } from './connect.ts';
import { CommandError, lineOf } from './errors.ts';

export interface GatewayOptions {
  port: number;
  authToken?: string;
  password?: string;
  vault?: string;
  json?: boolean;
}

/** Connects to the gateway that runs, does `work`, and closes the connection. `name` is the command. Throws `CommandError`. */
export async function withGateway(
  name: string,
  { port, authToken, password, vault }: GatewayOptions,
  work: (client: GatewayClient) => Promise<void>,
): Promise<void> {
  const client = await connect({ port, token: authToken, password, vault, name });
  try {
    await work(client);
  } catch (error) {
    if (error instanceof RpcError) throw new CommandError(`The gateway rejected the request: ${lineOf(error)}`, 1, { cause: error });
    throw error;
  } finally {
    client.close();
  }
}
