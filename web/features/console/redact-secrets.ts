import { REDACTED, redactPatterns, isSecretName } from '#shared/redact.ts';

/** Redacts secrets in a JSON value, recognized by name or pattern. */
export function redactSecrets(value: unknown): unknown {
  if (typeof value === 'string') return redactPatterns(value);
  if (Array.isArray(value)) return value.map(redactSecrets);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      isSecretName(name) && typeof member === 'string' ? REDACTED : redactSecrets(member),
    ]),
  );
}
