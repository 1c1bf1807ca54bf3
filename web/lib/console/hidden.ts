import { HIDDEN, hideForms, isSecretName } from '#shared/redact.ts';

/** A JSON value without secrets, which are found by name or form. */
export function withoutSecrets(value: unknown): unknown {
  if (typeof value === 'string') return hideForms(value);
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      isSecretName(name) && typeof member === 'string' ? HIDDEN : withoutSecrets(member),
    ]),
  );
}
