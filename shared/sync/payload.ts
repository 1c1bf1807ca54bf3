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
  projects: 'id',
  hooks: 'name',
  hookCalls: 'id',
  budgets: 'id',
  pushDevices: 'id',
  deliveries: 'id',
  responses: 'id',
  conversations: 'id',
  apiFiles: 'id',
  systemEvents: 'id',
  mcpTools: 'id',
  channelStates: 'id',
  drawings: 'id',
  drawingChanges: 'key',
  contentLabels: 'id',
  provenance: 'id',
  forgettings: 'id',
  fileVersions: 'id',
  trash: 'id',
  trashRecords: 'key',
  collections: 'id',
  collectionDocuments: 'id',
  collectionTexts: 'id',
  files: 'key',
  conflicts: 'id',
};

type Validator = (value: unknown) => boolean;
const isText: Validator = (value) => typeof value === 'string';
/** `<agent>/<session>`: whatever has another name could be listed, and neither opened nor deleted. */
const isSessionKey: Validator = (value) => typeof value === 'string' && /^[A-Za-z0-9_-]{1,128}\/[A-Za-z0-9_-]{1,128}$/.test(value);
const isNumber: Validator = (value) => Number.isFinite(value);
const isBoolean: Validator = (value) => typeof value === 'boolean';
const optional =
  (check: Validator): Validator =>
  (value) =>
    value === undefined || check(value);
const nullable =
  (check: Validator): Validator =>
  (value) =>
    value === null || check(value);
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
const arrayWith =
  (check: Validator): Validator =>
  (value) =>
    Array.isArray(value) && value.every(check);
const isAbsent: Validator = (value) => value === undefined;

/** Fields that each replica computes for a session's row: neither of its two records may have them. */
const COMPUTED_FIELDS = {
  key: isAbsent,
  agentId: isAbsent,
  sessionId: isAbsent,
  messageCount: isAbsent,
  size: isAbsent,
  preview: isAbsent,
};

/** Fields that every replica needs to store a record; the others are only for readers. */
const REQUIRED_FIELDS: Partial<Record<SyncStore, Readonly<Record<string, Validator>>>> = {
  sessions: {
    title: optional(isText),
    createdAt: optional(isNumber),
    pinned: optional(isBoolean),
    archived: optional(isBoolean),
    folder: optional(nullable(isText)),
    tags: optional(arrayWith(isText)),
    projectId: optional(nullable(isText)),
    collections: optional(arrayWith(isText)),
    ...COMPUTED_FIELDS,
    headId: isAbsent,
  },
  heads: { ...COMPUTED_FIELDS, headId: nullable(isText), updatedAt: isNumber },
  messages: {
    sessionKey: isSessionKey,
    content: (value) =>
      isText(value) || arrayWith((part) => isObject(part) && isText(part['type']) && optional(isNumber)(part['length']))(value),
  },
  runs: { sessionKey: isSessionKey },
  provenance: { chain: isText, versions: arrayWith(isObject) },
  forgettings: { at: isNumber, messages: arrayWith(isText), texts: arrayWith(isText) },
  trash: { kind: isText, deletedAt: isNumber },
  collections: { name: isText, sources: Array.isArray },
  collectionDocuments: { collectionId: isText, path: isText, blobs: optional(arrayWith(isText)) },
  collectionTexts: { text: isText, start: isNumber, first: isNumber, passages: arrayWith(isObject) },
  trashRecords: { store: isText, record: isObject, blobs: optional(arrayWith(isText)) },
};

/** Far more than any record has; a browser that copies a value goes down it on its stack. */
const MAX_DEPTH = 1000;
const isDeeper = (value: unknown, levelsLeft: number): boolean =>
  typeof value === 'object' && value !== null && (levelsLeft === 0 || Object.values(value).some((each) => isDeeper(each, levelsLeft - 1)));

/** Validates a parsed payload. Returns the problem (another record's key, or a value that a replica cannot store); undefined if valid. */
export function findPayloadProblem(store: SyncStore, key: string, value: unknown): string | undefined {
  if (!isObject(value)) return 'is not a record';
  if (store === 'sessions' || store === 'heads') {
    if (!isSessionKey(key)) return 'has an invalid session key';
  } else {
    const recordKey = value[KEY_FIELDS[store]];
    if (typeof recordKey !== 'string' || recordKey.toWellFormed() !== key.toWellFormed())
      return `has a ${KEY_FIELDS[store]} that differs from its key`;
  }
  if (isDeeper(value, MAX_DEPTH)) return `is more than ${MAX_DEPTH} levels deep`;
  const invalidField = Object.entries(REQUIRED_FIELDS[store] ?? {}).find(([name, isValid]) => !isValid(value[name]));
  return invalidField && `has ${value[invalidField[0]] === undefined ? 'no' : 'an invalid'} ${invalidField[0]}`;
}
