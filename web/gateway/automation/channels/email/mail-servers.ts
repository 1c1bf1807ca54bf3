export type MailProtocol = 'imap' | 'smtp';

/** A mail server as the settings name it. */
interface MailServerAddress {
  host: string;
  port: number;
  /** `tls`: from the first byte; `starttls`: required later. */
  security: 'tls' | 'starttls';
}

const PORTS = { imap: { tls: 993, starttls: 143 }, smtp: { tls: 465, starttls: 587 } } as const;
const ADDRESS = /^(?:(imap|smtp)(s?):\/\/)?(\[[\da-f:.]{2,45}\]|[\p{L}\d](?:[\p{L}\d.-]{0,252}[\p{L}\d])?)(?::(\d{1,5}))?\/?$/iu;

/**
 * Reads `host`, `host:port`, or either after `imaps://` or `imap://` (`smtps://`, `smtp://`). Without a scheme the port decides: TLS from
 * the start, except on the usual ports for STARTTLS. Undefined if it is none of these.
 */
export function parseMailServer(text: string, protocol: MailProtocol): MailServerAddress | undefined {
  const [, scheme, secure, host, digits] = ADDRESS.exec(text.trim()) ?? [];
  if (host === undefined || (scheme !== undefined && scheme.toLowerCase() !== protocol)) return undefined;
  const ports = PORTS[protocol];
  const port = digits === undefined ? undefined : Number(digits);
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined;
  const isStartTls = scheme === undefined ? port === ports.starttls || (protocol === 'smtp' && port === 25) : secure === '';
  const security = isStartTls ? 'starttls' : 'tls';
  return { host: host.toLowerCase(), port: port ?? ports[security], security };
}
