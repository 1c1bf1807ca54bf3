import { WebSocket } from 'ws';
import { ConnectionClosed, GatewayClient } from '#shared/client/client.ts';
import { socketLink } from '#shared/client/websocket.ts';
import { DEFAULT_PORT } from '#shared/link/default-port.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { CLOSE } from '#shared/rpc/limits.ts';
import type { MethodName, MethodParams, MethodResult } from '#shared/rpc/methods/index.ts';
import { commandLine, startCommand } from '../command-line.ts';
import { type CredentialOptions, credentialFor } from './credential.ts';
import { CommandError, lineOf } from './errors.ts';
import { localTarget, type Target, targetOf } from './target.ts';

/** Options from the command line (`connectionOptions` in options.ts). */
export interface ConnectionOptions extends CredentialOptions {
  port: number;
  url?: string | undefined;
  /** Name of one of the gateway's vaults. */
  vault?: string | undefined;
  /** In milliseconds. */
  timeout?: number | undefined;
}

export interface Connecting extends ConnectionOptions {
  /** Name in the gateway's list of clients. */
  name: string;
  timeoutMs?: number;
  /** Receive the events of all sessions, and events without a session. */
  events?: 'all';
}

export const targetFor = ({ url, port, vault }: ConnectionOptions): Target =>
  url === undefined ? localTarget(port, vault) : targetOf(url, vault);

/** Connects as the owner to the gateway at `url`, or on a local port. Throws a CommandError with the reason. */
export async function connect({ name, timeoutMs = 10_000, events, ...options }: Connecting): Promise<GatewayClient> {
  const target = targetFor(options);
  const auth = await credentialFor(target, options);
  let client: GatewayClient | undefined;
  const socket = openSocket(target, timeoutMs);
  try {
    client = await GatewayClient.connect(socket.link, { params: { clientName: name, auth, ...(events && { events }) }, timeoutMs });
  } catch (error) {
    throw connectionFailure(target, error, socket.reason());
  }
  return client;
}

/** Opens a socket to a gateway without following redirects. `reason`: why it could not be opened, if known. */
export function openSocket({ ws }: Target, timeoutMs: number): { link: ReturnType<typeof socketLink>; reason(): string } {
  const socket = new WebSocket(ws, { followRedirects: false, handshakeTimeout: timeoutMs, perMessageDeflate: false });
  let failed: unknown;
  socket.on('error', (error) => (failed ??= error));
  return { link: socketLink(socket), reason: () => (failed === undefined ? '' : reasonOf(failed)) };
}

/** Converts a connection failure to the command's error. */
export function connectionFailure(target: Target, error: unknown, reason: string): CommandError {
  if (error instanceof RpcError)
    return new CommandError(`The gateway ${target.where} rejected the connection: ${lineOf(error)}`, 1, { cause: error });
  if (error instanceof ConnectionClosed && error.code === CLOSE.noGateway) return new CommandError(noHost(target), 1, { cause: error });
  const what = reason || lineOf(error);
  if (/timed out|didn’t respond|before the connection was established/.test(what))
    return new CommandError(`The gateway ${target.where} didn’t respond in time`, 1, { cause: error });
  const hint = target.where.startsWith('on port') ? `. Start it with \`${startCommand(target.port)}\`.` : '';
  return new CommandError(`Couldn’t connect to the gateway ${target.where}${what ? ` (${what})` : ''}${hint}`, 1, { cause: error });
}

/** The bridge is running with its capabilities; the gateway itself runs in a browser. */
const noHost = ({ where, isLocal, port }: Target): string => {
  const runs = `The bridge ${where} is running, but no browser serves the gateway`;
  if (!isLocal) return `${runs}. Open the app in a browser on that computer.`;
  const open = commandLine(port === DEFAULT_PORT ? 'open' : `open --port ${port}`);
  return `${runs}. Open the link from \`${open}\` in a browser, or start the bridge without \`--host tab\`.`;
};

/** Describes a network error. For several addresses, only the members of the error have messages. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (error instanceof Error && error.cause instanceof Error) return reasonOf(error.cause);
  return lineOf(error);
}

/** Calls a method, with an optional timeout in milliseconds. An error ends the command with its code. */
export const callOf = <M extends MethodName>(
  client: GatewayClient,
  method: M,
  params: MethodParams<M>,
  timeoutMs?: number,
): Promise<MethodResult<M>> => requestOf(client, method, params, timeoutMs) as Promise<MethodResult<M>>;

/** The same for any method name, untyped. */
export async function requestOf(client: GatewayClient, method: string, params: unknown, timeoutMs?: number): Promise<unknown> {
  try {
    return await client.request(
      method,
      params,
      timeoutMs === undefined ? undefined : AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs))),
    );
  } catch (error) {
    throw callFailure(error, method);
  }
}

export function callFailure(error: unknown, method: string): CommandError {
  if (error instanceof RpcError) return new CommandError(`${error.code}: ${lineOf(error)}`, 1, { cause: error });
  if (error instanceof ConnectionClosed)
    return new CommandError(`The connection to the gateway was lost: ${lineOf(error)}`, 1, { cause: error });
  if (error instanceof Error && error.name === 'TimeoutError')
    return new CommandError(`The gateway didn’t answer ${method} in time. Try a longer --timeout.`, 1, { cause: error });
  return new CommandError(lineOf(error), 1, { cause: error });
}
