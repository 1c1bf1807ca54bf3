import type { AddressInfo, Server } from 'node:net';
import { isLoopback } from './admission.ts';
import { describePortHolder } from './port-holder.ts';

interface BoundAddress {
  port: number;
  /** Address that the system reports, as `address:port`. */
  address: string;
}

export const isLoopbackBind = (bind: string): boolean => bind === 'localhost' || isLoopback(bind);
/** Whether a listener at this address is also reachable at 127.0.0.1. */
export const coversLoopback = (bind: string): boolean => bind === '0.0.0.0' || bind === '::';

/**
 * Listens on a port. Rejects with an error that says what to do. If the port is taken, the error names the program that uses it; another
 * port is never used instead.
 */
export async function listen(server: Server, port: number, bind: string): Promise<BoundAddress> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ port, host: bind === 'localhost' ? '127.0.0.1' : bind, backlog: 1024 }, () => {
        server.off('error', reject);
        resolve();
      });
    });
  } catch (error) {
    throw new Error(await toListenError(error, port, bind), { cause: error });
  }
  const { address, port: given, family } = server.address() as AddressInfo;
  return { port: given, address: family === 'IPv6' ? `[${address}]:${given}` : `${address}:${given}` };
}

async function toListenError(error: unknown, port: number, bind: string): Promise<string> {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE')
    return `Port ${port} is in use by ${await describePortHolder(port, coversLoopback(bind) ? '127.0.0.1' : bind)}. Stop it, or choose another port with --port.`;
  if (code === 'EACCES') return `Port ${port} requires more privileges. Choose a port from 1024 up with --port.`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `${bind} is not an address of this computer. Choose another with --bind.`;
  return `Couldn’t listen on ${bind}, port ${port}: ${error instanceof Error ? error.message : String(error)}`;
}
