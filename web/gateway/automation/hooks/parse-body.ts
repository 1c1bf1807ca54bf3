/** Parses the body of a call: JSON, or a form with JSON in its field `payload`, as GitHub can send it. Throws if it is neither. */
export function parseBody(contentType: string | null, body: Uint8Array): unknown {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  if (!/^application\/x-www-form-urlencoded\b/i.test(contentType ?? '')) return text.trim() === '' ? {} : JSON.parse(text);
  const form = new URLSearchParams(text);
  const payload = form.get('payload');
  return payload === null ? Object.fromEntries(form) : JSON.parse(payload);
}
