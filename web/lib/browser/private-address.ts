/**
 * Normalizes typed or pasted text to `host` or `host:port`, the form of the setting `browser.allow`; null if it is not a private address.
 */
export function parsePrivateAddress(input: string): string | null {
  const [bare = ''] = input
    .trim()
    .replace(/^https?:\/\//i, '')
    .split(/[/?#\\]/);
  if (bare === '' || /[\s@*,;]/.test(bare)) return null;
  const url = URL.parse(`http://${bare}`);
  if (!url || url.hostname === '' || bare.endsWith(':')) return null;
  return /:\d+$/.test(bare) ? `${url.hostname}:${url.port || '80'}` : url.hostname;
}

/** Whether it is an address that a Chrome or a grid is driven by over CDP. */
export function isEndpoint(input: string): boolean {
  const url = /\s/.test(input) ? null : URL.parse(input);
  return url !== null && url.hostname !== '' && /^(https?|wss?):\/\//.test(input);
}
