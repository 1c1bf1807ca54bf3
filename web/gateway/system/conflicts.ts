import type { SyncConflict } from '#shared/rpc/methods/sync-contracts.ts';
import { type FileRecord, fileRecord } from '#shared/rpc/workspace-file.ts';
import { z } from '#shared/rpc/zod.ts';
import type { ConflictCopy } from '#shared/sync/conflict.ts';
import { getClockOrigin, getClockTime } from '#shared/sync/record.ts';
import { REDACTED } from '../config/gateway-config.ts';
import { isObject } from '#shared/merge-patch.ts';
import { toPlainText } from '../storage/session-views.ts';
import { isSecret } from '../config/settings-schema.ts';
import type { Vault } from '../storage/vault-interface.ts';

const MAX_TEXT_CHARS = 500;
const MAX_NAME_CHARS = 80;
/** Maximum number of conflicts listed at a time: each may have a file of 8 MiB. */
const MAX_LISTED = 200;
const UNREADABLE = 'This version can’t be shown';

/** The parts of records of other hosts that are displayed. */
const sessionFields = z.object({
  title: z.string(),
  pinned: z.boolean().optional(),
  archived: z.boolean().optional(),
  folder: z.string().nullish(),
  tags: z.array(z.string()).optional(),
});
const headFields = z.object({ headId: z.string().nullable() });
const settingRow = z.object({ name: z.string(), value: z.unknown() });
const projectFields = z.object({
  name: z.string(),
  instructions: z.string().optional(),
  model: z.string().nullish(),
  archived: z.boolean().optional(),
});
const memoryFields = z.object({ text: z.string(), category: z.string().optional() });

type ConflictReader = Pick<Vault, 'conflicts' | 'sessions' | 'messages'>;

/** How to describe a conflict and its versions, by store. */
interface ConflictKind {
  kind: SyncConflict['kind'];
  getTitle(copy: ConflictCopy, vault: ConflictReader): Promise<string>;
  /** Rejects if this build cannot read the version. */
  render(version: unknown, vault: ConflictReader): Promise<string>;
}

const getSessionTitle = async (copy: ConflictCopy, vault: ConflictReader): Promise<string> =>
  (await vault.sessions.get(copy.key))?.title ?? sessionFields.safeParse(parsePayload(copy.payload)).data?.title ?? 'a deleted chat';

const KINDS = new Map<string, ConflictKind>([
  [
    'sessions',
    {
      kind: 'session',
      getTitle: getSessionTitle,
      async render(version) {
        const { title, pinned, archived, folder, tags = [] } = sessionFields.parse(version);
        return [
          title,
          ...(pinned ? ['pinned'] : []),
          ...(archived ? ['archived'] : []),
          ...(folder ? [`in ${folder}`] : []),
          ...(tags.length > 0 ? [`tags: ${tags.join(', ')}`] : []),
        ].join(' · ');
      },
    },
  ],
  [
    'heads',
    {
      kind: 'branch',
      getTitle: async (copy, vault) => `Branch of ${await getSessionTitle(copy, vault)}`,
      async render(version, vault) {
        const { headId } = headFields.parse(version);
        if (headId === null) return 'Empty chat';
        const message = await vault.messages.get(headId);
        return message ? toPlainText(message.content) : 'Message not available on this device';
      },
    },
  ],
  [
    'config',
    {
      kind: 'setting',
      getTitle: async ({ key }) => key,
      async render(version) {
        const { name, value } = settingRow.parse(version);
        const redacted = redactSecrets(value, name.split('.'));
        return typeof redacted === 'string' ? redacted : JSON.stringify(redacted, null, 2);
      },
    },
  ],
  [
    'memories',
    {
      kind: 'memory',
      getTitle: async ({ payload }) => truncate(memoryFields.safeParse(parsePayload(payload)).data?.text ?? 'A memory', MAX_NAME_CHARS),
      render: async (version) => memoryFields.parse(version).text,
    },
  ],
  [
    'projects',
    {
      kind: 'project',
      getTitle: async ({ payload }) => truncate(projectFields.safeParse(parsePayload(payload)).data?.name ?? 'A project', MAX_NAME_CHARS),
      async render(version) {
        const { name, instructions = '', model, archived } = projectFields.parse(version);
        return [[name, ...(model ? [model] : []), ...(archived ? ['archived'] : [])].join(' · '), instructions].filter(Boolean).join('\n');
      },
    },
  ],
  [
    'files',
    {
      kind: 'file',
      getTitle: async ({ key }) => key,
      async render(version) {
        const { content, encoding, mimeType, size } = fileRecord.parse(version);
        if (encoding === 'base64') return `${mimeType}, ${size.toLocaleString('en')} bytes`;
        return content.trim() === '' ? 'Empty file' : content;
      },
    },
  ],
]);

/** Whether this build can describe a copy with that id. */
const isSupported = (id: string): boolean => KINDS.has(id.slice(0, id.indexOf('/')));

export async function countConflicts(vault: Pick<Vault, 'conflicts'>): Promise<number> {
  return (await vault.conflicts.ids()).filter(isSupported).length;
}

/**
 * The newest 200 versions that lost a sync conflict, newest first, for the person to compare. Stores that this build does not know are left
 * out.
 */
export async function listConflicts(vault: ConflictReader): Promise<SyncConflict[]> {
  const getClock = (id: string): string => id.slice(id.lastIndexOf('/') + 1);
  const ids = (await vault.conflicts.ids()).filter(isSupported).sort((a, b) => (getClock(a) < getClock(b) ? 1 : -1));
  const described: SyncConflict[] = [];
  // One after the other: together they may not fit in memory.
  for (const id of ids.slice(0, MAX_LISTED)) {
    const copy = await vault.conflicts.get(id);
    if (copy) described.push(...(await describe(copy, vault)));
  }
  return described;
}

/** The version of a file in a copy; undefined if this build cannot read it, or it is another file's. */
export function toConflictFile({ store, key, payload }: ConflictCopy): FileRecord | undefined {
  const { data } = fileRecord.safeParse(parsePayload(payload));
  return store === 'files' && data && `${data.workspace}/${data.path}` === key ? { ...data, key } : undefined;
}

async function describe(copy: ConflictCopy, vault: ConflictReader): Promise<SyncConflict[]> {
  const kind = KINDS.get(copy.store);
  if (!kind) return [];
  const renderVersion = async (payload: string): Promise<string> => {
    const text = await kind.render(parsePayload(payload), vault).catch(() => UNREADABLE);
    return truncate(text, MAX_TEXT_CHARS);
  };
  const current = await vault.conflicts.current(copy);
  const ofSession = kind.kind === 'session' || kind.kind === 'branch';
  const conflict: SyncConflict = {
    id: copy.id,
    kind: kind.kind,
    about: await kind.getTitle(copy, vault),
    origin: getClockOrigin(copy.clock),
    at: getClockTime(copy.clock),
    kept: current === undefined ? null : await renderVersion(current),
    aside: await renderVersion(copy.payload),
    ...(ofSession ? { path: `${copy.key}.jsonl` } : {}),
  };
  return [conflict];
}

/** Undefined if it is not valid JSON. */
function parsePayload(payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch {
    return undefined;
  }
}

/** A setting with `***` at every path that can hold a secret, whatever its value. */
function redactSecrets(value: unknown, path: readonly string[]): unknown {
  if (isSecret(path)) return REDACTED;
  if (Array.isArray(value) || !isObject(value)) return value ?? null;
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, redactSecrets(child, [...path, name])]));
}

function truncate(text: string, chars: number): string {
  // Do not end with half of a surrogate pair.
  return text.length <= chars ? text : `${text.slice(0, chars - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
