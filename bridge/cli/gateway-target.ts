import { isLoopback } from '../server/admission.ts';
import { CommandError } from './command-error.ts';

/** A gateway's addresses. */
export interface GatewayTarget {
  /** URL of the WebSocket. */
  ws: string;
  /** Base URL for HTTP, without a trailing slash. */
  http: string;
  /** Query that selects the vault in HTTP URLs; the WebSocket's URL contains it. */
  query: string;
  port: number;
  /** Whether it is a loopback address of this machine, which no other machine can have. */
  isLocal: boolean;
  /** Location as part of a sentence: `on port 7433`, `at wss://example.org/ws`. */
  where: string;
}

const toVaultQuery = (vault: string | undefined): string => (vault === undefined ? '' : `?vault=${encodeURIComponent(vault)}`);

export const createLocalTarget = (port: number, vault?: string): GatewayTarget => ({
  ws: `ws://127.0.0.1:${port}/ws${toVaultQuery(vault)}`,
  http: `http://127.0.0.1:${port}`,
  query: toVaultQuery(vault),
  port,
  isLocal: true,
  where: `on port ${port}`,
});

const SCHEMES: Record<string, string> = { 'ws:': 'ws:', 'wss:': 'wss:', 'http:': 'ws:', 'https:': 'wss:' };

/**
 * Parses `--url`: the URL of the WebSocket, of the app (also a link printed by `perch open`), or of a folder behind a proxy. A ws URL with
 * a path is used as it is. Throws a CommandError (2) if it is invalid.
 */
export function parseTarget(text: string, vault?: string): GatewayTarget {
  const url = URL.parse(text);
  const scheme = url && SCHEMES[url.protocol];
  if (!scheme) throw new CommandError('--url must start with ws, wss, http or https', 2);
  // A user name is meant as a credential, which would be shown wherever the URL is.
  if (url.username !== '' || url.password !== '')
    throw new CommandError('--url must not contain a user name or password. Use --token or --password.', 2);
  const path = url.pathname.replace(/\/+$/, '');
  const isWhole = path.endsWith('/ws') || (path !== '' && url.protocol.startsWith('ws'));
  const isEncrypted = scheme === 'wss:';
  const query = toVaultQuery(vault);
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
