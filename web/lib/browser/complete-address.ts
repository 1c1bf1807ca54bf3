/** Completes a typed address: without a scheme it is `https`, or `http` for this machine or an IP address. Null if it is invalid. */
export function completeAddress(input: string): string | null {
  const text = input.trim();
  if (text === '') return null;
  if (/^about:blank$/i.test(text)) return 'about:blank';
  const schemed = /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  if (!schemed && /\s/.test(text)) return null;
  const near = /^(localhost|[\w-]+\.local|\d+\.\d+\.\d+\.\d+|\[[0-9a-f:]+\])(:|\/|$)/i.test(text);
  const url = URL.parse(schemed ? text : `${near ? 'http' : 'https'}://${text}`);
  return url && /^https?:$/.test(url.protocol) && url.hostname !== '' ? url.href : null;
}
