import type { Conflict } from '#shared/rpc/methods/sync.ts';
import { type FileRecord, fileRecord } from '#shared/rpc/methods/workspace.ts';
import { z } from '#shared/rpc/zod.ts';
import type { ConflictCopy } from '#shared/sync/conflict.ts';
import { originOf, wallOf } from '#shared/sync/record.ts';
import { REDACTED } from './config.ts';
import { isObject } from './merge.ts';
import { plainText } from './sessions.ts';
import { isSecret } from './settings.ts';
import type { Vault } from './vault.ts';

const SHOWN_CHARS = 500;
const NAME_CHARS = 80;
/** Maximum number of conflicts listed at a time: each may have a file of 8 MiB. */
const MOST_TOLD = 200;
const UNREADABLE = 'This version can’t be shown';

/** The parts of records of other hosts that are displayed. */
const entry = z.object({
  title: z.string(),
  pinned: z.boolean().optional(),
  archived: z.boolean().optional(),
  folder: z.string().nullish(),
  tags: z.array(z.string()).optional(),
});
const head = z.object({ headId: z.string().nullable() });
const row = z.object({ name: z.string(), value: z.unknown() });
const memory = z.object({ text: z.string(), category: z.string().optional() });

type Read = Pick<Vault, 'conflicts' | 'sessions' | 'messages'>;

/** How to describe a conflict and its versions, by store. */
interface Kind {
  kind: Conflict['kind'];
  about(copy: ConflictCopy, vault: Read): Promise<string>;
  /** Rejects if this build cannot read the version. */
  show(version: unknown, vault: Read): Promise<string>;
}

const titleOf = async (copy: ConflictCopy, vault: Read): Promise<string> =>
  (await vault.sessions.get(copy.key))?.title ?? entry.safeParse(parsed(copy.payload)).data?.title ?? 'a deleted chat';

const KINDS = new Map<string, Kind>([
  [
    'sessions',
    {
      kind: 'session',
      about: titleOf,
      async show(version) {
        const { title, pinned, archived, folder, tags = [] } = entry.parse(version);
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
      about: async (copy, vault) => `Branch of ${await titleOf(copy, vault)}`,
      async show(version, vault) {
        const { headId } = head.parse(version);
        if (headId === null) return 'Empty chat';
        const message = await vault.messages.get(headId);
        return message ? plainText(message.content) : 'Message not available on this device';
      },
    },
  ],
  [
    'config',
    {
      kind: 'setting',
      about: async ({ key }) => key,
      async show(version) {
        const { name, value } = row.parse(version);
        const shown = redacted(value, name.split('.'));
        return typeof shown === 'string' ? shown : JSON.stringify(shown, null, 2);
      },
    },
  ],
  [
    'memories',
    {
      kind: 'memory',
      about: async ({ payload }) => shortened(memory.safeParse(parsed(payload)).data?.text ?? 'A memory', NAME_CHARS),
      show: async (version) => memory.parse(version).text,
    },
  ],
  [
    'files',
    {
      kind: 'file',
      about: async ({ key }) => key,
      async show(version) {
        const { content, encoding, mimeType, size } = fileRecord.parse(version);
        if (encoding === 'base64') return `${mimeType}, ${size.toLocaleString('en')} bytes`;
        return content.trim() === '' ? 'Empty file' : content;
      },
    },
  ],
]);

/** Whether this build can describe a copy with that id. */
const isKnown = (id: string): boolean => KINDS.has(id.slice(0, id.indexOf('/')));

export async function countConflicts(vault: Pick<Vault, 'conflicts'>): Promise<number> {
  return (await vault.conflicts.ids()).filter(isKnown).length;
}

/**
 * The newest 200 versions that lost a sync conflict, newest first, for the person to compare. Stores that this build does not know are left
 * out.
 */
export async function conflictsOf(vault: Read): Promise<Conflict[]> {
  const clockOf = (id: string): string => id.slice(id.lastIndexOf('/') + 1);
  const ids = (await vault.conflicts.ids()).filter(isKnown).sort((a, b) => (clockOf(a) < clockOf(b) ? 1 : -1));
  const described: Conflict[] = [];
  // One after the other: together they may not fit in memory.
  for (const id of ids.slice(0, MOST_TOLD)) {
    const copy = await vault.conflicts.get(id);
    if (copy) described.push(...(await describe(copy, vault)));
  }
  return described;
}

/** The version of a file in a copy; undefined if this build cannot read it, or it is another file's. */
export function fileOf({ store, key, payload }: ConflictCopy): FileRecord | undefined {
  const { data } = fileRecord.safeParse(parsed(payload));
  return store === 'files' && data && `${data.workspace}/${data.path}` === key ? { ...data, key } : undefined;
}

async function describe(copy: ConflictCopy, vault: Read): Promise<Conflict[]> {
  const kind = KINDS.get(copy.store);
  if (!kind) return [];
  const show = async (payload: string): Promise<string> => {
    const text = await kind.show(parsed(payload), vault).catch(() => UNREADABLE);
    return shortened(text, SHOWN_CHARS);
  };
  const current = await vault.conflicts.current(copy);
  const ofSession = kind.kind === 'session' || kind.kind === 'branch';
  const conflict: Conflict = {
    id: copy.id,
    kind: kind.kind,
    about: await kind.about(copy, vault),
    origin: originOf(copy.clock),
    at: wallOf(copy.clock),
    kept: current === undefined ? null : await show(current),
    aside: await show(copy.payload),
    ...(ofSession ? { path: `${copy.key}.jsonl` } : {}),
  };
  return [conflict];
}

/** Undefined if it is not valid JSON. */
function parsed(payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch {
    return undefined;
  }
}

/** A setting with `***` at every path that can hold a secret, whatever its value. */
function redacted(value: unknown, path: readonly string[]): unknown {
  if (isSecret(path)) return REDACTED;
  if (Array.isArray(value) || !isObject(value)) return value ?? null;
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, redacted(child, [...path, name])]));
}

function shortened(text: string, chars: number): string {
  // Do not end with half of a surrogate pair.
  return text.length <= chars ? text : `${text.slice(0, chars - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
