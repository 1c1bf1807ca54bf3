/** Completes a typed address: without a scheme it is `https`, or `http` for this machine or an IP address. Null if it is invalid. */
export function completeAddress(input: string): string | null {
  const text = input.trim();
  if (text === '') return null;
  if (/^about:blank$/i.test(text)) return 'about:blank';
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  if (!hasScheme && /\s/.test(text)) return null;
  const isLocal = /^(localhost|[\w-]+\.local|\d+\.\d+\.\d+\.\d+|\[[0-9a-f:]+\])(:|\/|$)/i.test(text);
  const url = URL.parse(hasScheme ? text : `${isLocal ? 'http' : 'https'}://${text}`);
  return url && /^https?:$/.test(url.protocol) && url.hostname !== '' ? url.href : null;
}
