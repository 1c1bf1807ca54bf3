import { isLevel, type KeyScope } from '#shared/rpc/scopes.ts';
import type { KeyEntry } from '#shared/rpc/methods/key-contracts.ts';
import { type HealthCheck, type DoctorDeps, reportOk, reportProblem } from './doctor-deps.ts';

const DAY_MS = 24 * 60 * 60_000;
/** Minimum period of recorded usage before a key is judged. */
const MIN_RECORD_MS = 7 * DAY_MS;
/** Period without use after which a scope counts as unnecessary. */
const UNUSED_MS = 30 * DAY_MS;
/** Maximum number of keys named in the message. */
const MAX_NAMED = 10;

/** Finds API keys with more scopes than they use. */
export const keyChecks = ({ access, clock }: Pick<DoctorDeps, 'access' | 'clock'>): HealthCheck[] => [
  {
    id: 'api-keys',
    title: 'API key scopes',
    async run() {
      const all = await (await access.load()).keys.list();
      const overprivileged = all.flatMap((key) => describeUnusedScopes(key, clock.now()) ?? []);
      if (all.length === 0) return null;
      if (overprivileged.length === 0) return reportOk('No API key has scopes that it doesn’t use.');
      const more = overprivileged.length > MAX_NAMED ? ` And ${overprivileged.length - MAX_NAMED} more.` : '';
      return reportProblem(
        'info',
        `Some API keys can do more than they do. ${overprivileged.slice(0, MAX_NAMED).join(' ')}${more}`,
        'Give each key only the scopes it needs, in Settings or with `keys.update`.',
      );
    },
  },
];

/** A sentence about a key with unused scopes; undefined if there are none, or too little is recorded. */
function describeUnusedScopes(
  { name, hint, scopes, use }: Pick<KeyEntry, 'name' | 'hint' | 'scopes' | 'use'>,
  now: number,
): string | undefined {
  if (!use || now - use.since < MIN_RECORD_MS) return undefined;
  const used = Object.keys(use.scopes).filter((scope) => now - (use.scopes[scope] ?? 0) < UNUSED_MS);
  const has = (scopes as KeyScope[]).filter((scope) => isLevel(scope) || !used.includes(scope));
  if (has.length === 0) return undefined;
  const key = `“${name}” (…${hint})`;
  const needs = used.length === 0 ? 'used none' : `used only ${used.sort().join(', ')}`;
  return `${key} has ${scopes.join(', ')} and ${needs} in the last 30 days.`;
}
