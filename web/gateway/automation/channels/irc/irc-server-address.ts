/** An IRC server as the settings name it. */
interface IrcServerAddress {
  host: string;
  port: number;
  isSecure: boolean;
}

const PORTS = { tls: 6697, plain: 6667 };
const ADDRESS = /^(?:(ircs?):\/\/)?(\[[\da-f:.]{2,45}\]|[\p{L}\d](?:[\p{L}\d.-]{0,252}[\p{L}\d])?)(?::(\d{1,5}))?\/?$/iu;

/** Reads `host`, `host:port`, or either after `ircs://` or `irc://`. TLS unless the scheme, or else the port, says otherwise. */
export function parseIrcServer(text: string): IrcServerAddress | undefined {
  const [, scheme, host, digits] = ADDRESS.exec(text.trim()) ?? [];
  if (host === undefined) return undefined;
  const port = digits === undefined ? undefined : Number(digits);
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined;
  const isSecure = scheme === undefined ? port !== PORTS.plain : scheme.toLowerCase() === 'ircs';
  return { host: host.toLowerCase(), port: port ?? PORTS[isSecure ? 'tls' : 'plain'], isSecure };
}
