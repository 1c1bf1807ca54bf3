import type { SyncStore } from './stores.ts';

/** The field of a record that is its key. Sessions and their heads lie in one row, and have none. */
const KEY_FIELDS: Readonly<Record<Exclude<SyncStore, 'sessions' | 'heads'>, string>> = {
  messages: 'id',
  runs: 'id',
  config: 'name',
  secrets: 'name',
  memories: 'id',
  usage: 'id',
  plans: 'id',
  jobs: 'id',
  jobRuns: 'id',
  execRequests: 'requestId',
  execPolicies: 'hash',
  approvals: 'id',
  devices: 'id',
  apiKeys: 'id',
  responses: 'id',
  conversations: 'id',
  apiFiles: 'id',
  systemEvents: 'id',
  mcpTools: 'id',
  channelStates: 'id',
  drawings: 'id',
  drawingChanges: 'key',
  contentLabels: 'id',
  fileVersions: 'id',
  files: 'key',
  conflicts: 'id',
};

type Check = (value: unknown) => boolean;
const text: Check = (value) => typeof value === 'string';
/** `<agent>/<session>`: whatever has another name could be listed, and neither opened nor deleted. */
const sessionKey: Check = (value) => typeof value === 'string' && /^[A-Za-z0-9_-]{1,128}\/[A-Za-z0-9_-]{1,128}$/.test(value);
const number: Check = (value) => Number.isFinite(value);
const flag: Check = (value) => typeof value === 'boolean';
const maybe =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const none: Check = (value) => value === undefined;

/** Fields that each replica computes for a session's row: neither of its two records may have them. */
const rowsOwn = { key: none, agentId: none, sessionId: none, messageCount: none, size: none, preview: none };

/** Fields that every replica needs to store a record; the others are only for readers. */
const FIELDS: Partial<Record<SyncStore, Readonly<Record<string, Check>>>> = {
  sessions: {
    title: maybe(text),
    createdAt: maybe(number),
    pinned: maybe(flag),
    archived: maybe(flag),
    folder: maybe(orNull(text)),
    tags: maybe(listOf(text)),
    ...rowsOwn,
    headId: none,
  },
  heads: { ...rowsOwn, headId: orNull(text), updatedAt: number },
  messages: {
    sessionKey,
    content: (value) => text(value) || listOf((part) => isObject(part) && text(part['type']) && maybe(number)(part['length']))(value),
  },
  runs: { sessionKey },
};

/** Far more than any record has; a browser that copies a value goes down it on its stack. */
const MAX_DEPTH = 1000;
const isDeeper = (value: unknown, left: number): boolean =>
  typeof value === 'object' && value !== null && (left === 0 || Object.values(value).some((each) => isDeeper(each, left - 1)));

/** Validates a parsed payload. Returns the problem (another record's key, or a value that a replica cannot store); undefined if valid. */
export function payloadProblem(store: SyncStore, key: string, value: unknown): string | undefined {
  if (!isObject(value)) return 'is not a record';
  if (store === 'sessions' || store === 'heads') {
    if (!sessionKey(key)) return 'has an invalid session key';
  } else {
    const own = value[KEY_FIELDS[store]];
    if (typeof own !== 'string' || own.toWellFormed() !== key.toWellFormed()) return `has a ${KEY_FIELDS[store]} that differs from its key`;
  }
  if (isDeeper(value, MAX_DEPTH)) return `is more than ${MAX_DEPTH} levels deep`;
  const wrong = Object.entries(FIELDS[store] ?? {}).find(([name, fits]) => !fits(value[name]));
  return wrong && `has ${value[wrong[0]] === undefined ? 'no' : 'an invalid'} ${wrong[0]}`;
}
