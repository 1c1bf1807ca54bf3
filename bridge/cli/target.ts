import { isLoopback } from '../server/admission.ts';
import { CommandError } from './errors.ts';

/** Where a gateway is reached. */
export interface Target {
  /** Of its WebSocket. */
  ws: string;
  /** Of its HTTP side, without a slash at the end. */
  http: string;
  /** What names the vault behind an address of the HTTP side; the WebSocket's has it already. */
  query: string;
  port: number;
  /** On this machine, by an address that nobody else can take. */
  isLocal: boolean;
  /** As a sentence goes on: `on port 7433`, `at wss://example.org/ws`. */
  where: string;
}

const queryOf = (vault: string | undefined): string => (vault === undefined ? '' : `?vault=${encodeURIComponent(vault)}`);

export const localTarget = (port: number, vault?: string): Target => ({
  ws: `ws://127.0.0.1:${port}/ws${queryOf(vault)}`,
  http: `http://127.0.0.1:${port}`,
  query: queryOf(vault),
  port,
  isLocal: true,
  where: `on port ${port}`,
});

const SCHEMES: Record<string, string> = { 'ws:': 'ws:', 'wss:': 'wss:', 'http:': 'ws:', 'https:': 'wss:' };

/**
 * The gateway that `--url` names, by the address of its WebSocket, of its app (a link that `perch open` printed, too) or of a folder behind a
 * proxy. A ws address with a path is taken as it is. Throws a CommandError (2) where it is none.
 */
export function targetOf(text: string, vault?: string): Target {
  const url = URL.parse(text);
  const scheme = url && SCHEMES[url.protocol];
  if (!scheme) throw new CommandError('--url must start with ws, wss, http or https', 2);
  // Whoever writes a name before the @ means a credential, which would show wherever the address does.
  if (url.username !== '' || url.password !== '')
    throw new CommandError('--url must not contain a user name or password. Use --token or --password.', 2);
  const path = url.pathname.replace(/\/+$/, '');
  const isWhole = path.endsWith('/ws') || (path !== '' && url.protocol.startsWith('ws'));
  const isEncrypted = scheme === 'wss:';
  const query = queryOf(vault);
  const ws = `${scheme}//${url.host}${isWhole ? path : `${path}/ws`}`;
  return {
    ws: `${ws}${query}`,
    query,
    http: `${isEncrypted ? 'https:' : 'http:'}//${url.host}${path.replace(/\/ws$/, '')}`,
    port: Number(url.port) || (isEncrypted ? 443 : 80),
    isLocal: isLocalName(url.hostname),
    where: `at ${ws}`,
  };
}

const isLocalName = (hostname: string): boolean => hostname === 'localhost' || isLoopback(hostname.replace(/^\[|\]$/g, ''));
