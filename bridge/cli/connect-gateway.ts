import { WebSocket } from 'ws';
import { ConnectionClosed, GatewayClient } from '#shared/client/client.ts';
import { socketLink } from '#shared/client/websocket.ts';
import { DEFAULT_PORT } from '#shared/link/default-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { CLOSE_CODES } from '#shared/rpc/limits.ts';
import type { MethodName, MethodParams, MethodResult } from '#shared/rpc/methods/index.ts';
import { toCommandLine, toStartCommand } from '../command-line.ts';
import { type CredentialOptions, getCredential } from './credential.ts';
import { CommandError, toErrorLine } from './command-error.ts';
import { createLocalTarget, type GatewayTarget, parseTarget } from './gateway-target.ts';

/** Options from the command line (`connectionOptions` in cli-options.ts). */
export interface ConnectionOptions extends CredentialOptions {
  port: number;
  url?: string | undefined;
  /** Name of one of the gateway's vaults. */
  vault?: string | undefined;
  /** In milliseconds. */
  timeout?: number | undefined;
}

interface ConnectOptions extends ConnectionOptions {
  /** Name in the gateway's list of clients. */
  name: string;
  timeoutMs?: number;
  /** Receive the events of all sessions, and events without a session. */
  events?: 'all';
}

export const resolveTarget = ({ url, port, vault }: ConnectionOptions): GatewayTarget =>
  url === undefined ? createLocalTarget(port, vault) : parseTarget(url, vault);

/** Connects as the owner to the gateway at `url`, or on a local port. Throws a CommandError with the reason. */
export async function connectGateway({ name, timeoutMs = 10_000, events, ...options }: ConnectOptions): Promise<GatewayClient> {
  const target = resolveTarget(options);
  const auth = await getCredential(target, options);
  let client: GatewayClient | undefined;
  const socket = openSocket(target, timeoutMs);
  try {
    client = await GatewayClient.connect(socket.link, { params: { clientName: name, auth, ...(events && { events }) }, timeoutMs });
  } catch (error) {
    throw toConnectionError(target, error, socket.reason());
  }
  return client;
}

/** Opens a socket to a gateway without following redirects. `reason`: why it could not be opened, if known. */
export function openSocket({ ws }: GatewayTarget, timeoutMs: number): { link: ReturnType<typeof socketLink>; reason(): string } {
  const socket = new WebSocket(ws, { followRedirects: false, handshakeTimeout: timeoutMs, perMessageDeflate: false });
  let failed: unknown;
  socket.on('error', (error) => (failed ??= error));
  return { link: socketLink(socket), reason: () => (failed === undefined ? '' : describeNetworkError(failed)) };
}

/** Converts a connection failure to the command's error. */
export function toConnectionError(target: GatewayTarget, error: unknown, reason: string): CommandError {
  if (error instanceof RpcError)
    return new CommandError(`The gateway ${target.where} rejected the connection: ${toErrorLine(error)}`, 1, { cause: error });
  if (error instanceof ConnectionClosed && error.code === CLOSE_CODES.noGateway)
    return new CommandError(createNoHostError(target), 1, { cause: error });
  const message = reason || toErrorLine(error);
  if (/timed out|didn’t respond|before the connection was established/.test(message))
    return new CommandError(`The gateway ${target.where} didn’t respond in time`, 1, { cause: error });
  const hint = target.where.startsWith('on port') ? `. Start it with \`${toStartCommand(target.port)}\`.` : '';
  return new CommandError(`Couldn’t connect to the gateway ${target.where}${message ? ` (${message})` : ''}${hint}`, 1, { cause: error });
}

/** The bridge is running with its capabilities; the gateway itself runs in a browser. */
const createNoHostError = ({ where, isLocal, port }: GatewayTarget): string => {
  const runs = `Perch ${where} is running, but no browser runs the gateway`;
  if (!isLocal) return `${runs}. Open the app in a browser on that computer.`;
  const open = toCommandLine(port === DEFAULT_PORT ? 'open' : `open --port ${port}`);
  return `${runs}. Open the link from \`${open}\` in a browser, or start Perch without \`--host tab\`.`;
};

/** Describes a network error. For several addresses, only the members of the error have messages. */
export function describeNetworkError(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return describeNetworkError(error.errors[0]);
  if (error instanceof Error && error.cause instanceof Error) return describeNetworkError(error.cause);
  return toErrorLine(error);
}

/** Calls a method, with an optional timeout in milliseconds. An error ends the command with its code. */
export const callGateway = <M extends MethodName>(
  client: GatewayClient,
  method: M,
  params: MethodParams<M>,
  timeoutMs?: number,
): Promise<MethodResult<M>> => requestGateway(client, method, params, timeoutMs) as Promise<MethodResult<M>>;

/** The same for any method name, untyped. */
export async function requestGateway(client: GatewayClient, method: string, params: unknown, timeoutMs?: number): Promise<unknown> {
  try {
    return await client.request(
      method,
      params,
      timeoutMs === undefined ? undefined : AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs))),
    );
  } catch (error) {
    throw toCallError(error, method);
  }
}

export function toCallError(error: unknown, method: string): CommandError {
  if (error instanceof RpcError) return new CommandError(`${error.code}: ${toErrorLine(error)}`, 1, { cause: error });
  if (error instanceof ConnectionClosed)
    return new CommandError(`The connection to the gateway was lost: ${toErrorLine(error)}`, 1, { cause: error });
  if (error instanceof Error && error.name === 'TimeoutError')
    return new CommandError(`The gateway didn’t answer ${method} in time. Try a longer --timeout.`, 1, { cause: error });
  return new CommandError(toErrorLine(error), 1, { cause: error });
}
