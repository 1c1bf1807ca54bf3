import { toCanonicalJson } from '#shared/canonical-json.ts';
import { isObject } from '#shared/merge-patch.ts';
import type { SyncRecord, SyncStore } from '#shared/sync/record.ts';
import { parseJsonSafely } from './backup-format.ts';

/**
 * Records that give access or permission. They stay as they are: what was revoked after the backup would be valid again, and a backup may be
 * changed by others.
 */
const RIGHTS: ReadonlySet<SyncStore> = new Set([
  'devices',
  'apiKeys',
  'execPolicies',
  'approvals',
  'execRequests',
  'mcpTools',
  'pushDevices',
]);

type Fields = Record<string, unknown>;

/** Members of a setting of tools, besides the policies, that let tools do more. */
const TOOL_RIGHTS = ['afterReading', 'webFetch'];
/** Members of a channel's settings that tell whom it obeys and answers. */
const CHANNEL_RIGHTS = ['owners', 'pairedUsers', 'allowedUsers', 'allowEveryone', 'rooms'];

export const isRight = ({ store }: Pick<SyncRecord, 'store'>): boolean => RIGHTS.has(store);

/** The payload of a backup's record with the permissions of the `current` one, or with none if there is no such record. */
export function withCurrentRights(
  { store, key, payload }: Pick<SyncRecord, 'store' | 'key' | 'payload'>,
  current: string | null,
): string | null {
  const limit = findLimit(store, key);
  const restored = limit && payload !== null ? parseJsonSafely(payload) : undefined;
  if (!limit || !isObject(restored)) return payload;
  const now = current === null ? undefined : parseJsonSafely(current);
  const limited = limit(restored, isObject(now) ? now : {});
  const isSame = (other: unknown): boolean => toCanonicalJson(limited) === toCanonicalJson(other);
  if (current !== null && isSame(now)) return current;
  return isSame(restored) ? payload : JSON.stringify(limited);
}

function findLimit(store: SyncStore, key: string): ((restored: Fields, now: Fields) => Fields) | undefined {
  if (store === 'jobs') return (job, now) => pick(job, now, ['outsideGrant']);
  // An enabled hook lets its caller start agents, or reports events to its address.
  if (store === 'hooks') return (hook, now) => ({ ...hook, enabled: hook['enabled'] === true && now['enabled'] === true });
  if (store !== 'config') return undefined;
  if (key === 'tools') return (row, now) => ({ ...row, value: limitTools(toFields(row['value']), toFields(now['value'])) });
  if (key.startsWith('channels.'))
    return (row, now) => ({ ...row, value: pick(toFields(row['value']), toFields(now['value']), CHANNEL_RIGHTS) });
  return undefined;
}

/** Policies that ask or deny are restored, those that allow are not. */
function limitTools(restored: Fields, now: Fields): Fields {
  const strict = Object.entries(toFields(restored['policies'])).filter(([, policy]) => policy !== 'auto');
  const policies = { ...Object.fromEntries(strict), ...toFields(now['policies']) };
  const { policies: _, ...rest } = pick(restored, now, TOOL_RIGHTS);
  return Object.keys(policies).length > 0 ? { ...rest, policies } : rest;
}

/** The restored fields, with these members as they are now. */
function pick(restored: Fields, now: Fields, names: readonly string[]): Fields {
  const others = Object.entries(restored).filter(([name]) => !names.includes(name));
  return { ...Object.fromEntries(others), ...Object.fromEntries(names.flatMap((name) => (name in now ? [[name, now[name]]] : []))) };
}

const toFields = (value: unknown): Fields => (isObject(value) ? value : {});
