import { REDACTED, redactPatterns, isSecretName } from '#shared/redact.ts';

/** A JSON value without secrets, which are found by name or form. */
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
