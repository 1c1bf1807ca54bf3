/**
 * Normalizes typed or pasted text to `host` or `host:port`, the form of the setting `browser.allow`; null if it is not a private address.
 */
export function parsePrivateAddress(input: string): string | null {
  const [host = ''] = input
    .trim()
    .replace(/^https?:\/\//i, '')
    .split(/[/?#\\]/);
  if (host === '' || /[\s@*,;]/.test(host)) return null;
  const url = URL.parse(`http://${host}`);
  if (!url || url.hostname === '' || host.endsWith(':')) return null;
  return /:\d+$/.test(host) ? `${url.hostname}:${url.port || '80'}` : url.hostname;
}

/** Whether a text is a valid address of a CDP endpoint of a browser or grid. */
export function isEndpoint(input: string): boolean {
  const url = /\s/.test(input) ? null : URL.parse(input);
  return url !== null && url.hostname !== '' && /^(https?|wss?):\/\//.test(input);
}
