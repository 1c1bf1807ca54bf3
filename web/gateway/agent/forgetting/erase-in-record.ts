import type { ForgetKind, ForgetReason } from '#shared/rpc/methods/forgetting-contracts.ts';
import { isObject } from '#shared/merge-patch.ts';
import type { StoredRecord } from '../../storage/forget-store.ts';
import { toPlainText } from '../../storage/session-views.ts';
import type { StoredMessage } from '../../storage/vault-schema.ts';
import { containsText, eraseLines, eraseTexts } from './erase-values.ts';
import { parseJsonRecord } from './parse-json-record.ts';
import type { EraseDecision } from './forget-pieces.ts';

type RecordValue = StoredRecord['value'];

interface EraseRecordOptions {
  matches(text: string): boolean;
  erase: EraseDecision;
}

/** Stores whose records go as a whole. */
const WHOLE_RECORDS: Partial<Record<StoredRecord['store'], ForgetKind>> = {
  fileVersions: 'version',
  conflicts: 'conflict',
  memories: 'memory',
};
/** Stores whose records stay without the text: they belong to chats, and go only if a person chooses them. */
const CHAT_RECORDS: ReadonlySet<StoredRecord['store']> = new Set([
  'responses',
  'conversations',
  'runs',
  'jobRuns',
  'execRequests',
  'approvals',
  'systemEvents',
  'deliveries',
  'hookCalls',
]);
/** Stores that are searched for the report only. */
export const STORES_IN_USE: readonly StoredRecord['store'][] = [
  'plans',
  'jobs',
  'projects',
  'drawings',
  'drawingChanges',
  'collections',
  'collectionDocuments',
  'collectionTexts',
  'apiFiles',
  'channelStates',
  'hooks',
];
/** Stores in which pieces are found, besides files. */
export const RECORD_STORES: readonly StoredRecord['store'][] = [
  'messages',
  'contentLabels',
  'trash',
  'trashRecords',
  ...(Object.keys(WHOLE_RECORDS) as StoredRecord['store'][]),
  ...CHAT_RECORDS,
];

/** Tools whose results quote memories and the wiki. */
const QUOTING_TOOL = /^(?:memory|wiki)_/;

/** A record without its chosen matching pieces: the same value if nothing was chosen, undefined if the record goes. */
export function eraseInRecord({ store, key, value }: StoredRecord, { matches, erase }: EraseRecordOptions): RecordValue | undefined {
  const decide = (kind: ForgetKind, text: string, place: string, reason?: ForgetReason): boolean =>
    erase({ kind, store, key, place, text, ...(reason === undefined ? {} : { reason }) });
  // Of a conflict copy, the texts of its record are compared one by one.
  const searched = store === 'conflicts' ? (parseJsonRecord(String(value['payload'])) ?? value) : value;
  if (!containsText(searched, matches)) return value;
  if (store === 'messages') return eraseInMessage(value as unknown as StoredMessage, matches, decide) as unknown as RecordValue;
  const whole = WHOLE_RECORDS[store];
  if (whole !== undefined) return decide(whole, getLabel(searched, matches), getPlace(value, key)) ? undefined : value;
  // A label stays: without it, what it is about would count as trusted.
  if (store === 'contentLabels') return decide('context', getLabel(value, matches), key) ? eraseTexts(value, matches) : value;
  if (store === 'trash') return eraseInTrash(value, matches, decide);
  // Identifiers of a record of the trash are in its record.
  if (store === 'trashRecords') return decide('trash', getLabel(value, matches), 'trash') ? eraseTexts(value, matches) : value;
  if (!CHAT_RECORDS.has(store)) return value;
  return decide('record', getLabel(value, matches), store, 'chat') ? eraseTexts(value, matches) : value;
}

type Decide = (kind: ForgetKind, text: string, place: string, reason?: ForgetReason) => boolean;

function eraseInMessage(message: StoredMessage, matches: (text: string) => boolean, decide: Decide): StoredMessage {
  const place = `${message.sessionKey}.jsonl`;
  let changed = message;
  const { runContext, recalled, compaction } = message;
  if (runContext && containsText(runContext, matches) && decide('context', getLabel(runContext, matches), place)) {
    const { text, memories = {}, ...rest } = runContext;
    const kept = Object.fromEntries(Object.entries(memories).filter(([, line]) => !matches(line)));
    const context = { ...eraseTexts(rest, matches), text: eraseLines(text, matches), ...(runContext.memories ? { memories: kept } : {}) };
    changed = { ...changed, runContext: context };
  }
  if (recalled && containsText(recalled, matches) && decide('context', getLabel(recalled, matches), place))
    changed = { ...changed, recalled: recalled.filter((each) => !containsText(each, matches)) };
  if (compaction && containsText(compaction, matches) && decide('summary', getLabel(compaction, matches), place))
    changed = { ...changed, compaction: { ...eraseTexts(compaction, matches), summary: eraseLines(compaction.summary, matches) } };
  const { runContext: _context, recalled: _recalled, compaction: _compaction, ...rest } = message;
  if (!containsText(rest, matches)) return changed;
  // The result of a memory tool quotes what is forgotten.
  const isQuote = message.role === 'tool' && QUOTING_TOOL.test(message.name ?? '');
  const text = toPlainText(message.content as Parameters<typeof toPlainText>[0]).trim() || getLabel(rest, matches);
  const isErased = isQuote ? decide('context', text, place) : decide('message', text, place, 'chat');
  if (!isErased) return changed;
  const { runContext: context, recalled: found, compaction: summary } = changed;
  return {
    ...eraseTexts(rest, matches),
    ...(context ? { runContext: context } : {}),
    ...(found ? { recalled: found } : {}),
    ...(summary ? { compaction: summary } : {}),
  };
}

/** Deleted memories and pages go; the titles of other deleted items are replaced. */
function eraseInTrash(value: RecordValue, matches: (text: string) => boolean, decide: Decide): RecordValue | undefined {
  if (!decide('trash', getLabel(value, matches), 'trash')) return value;
  return value['kind'] === 'memory' || value['kind'] === 'page' ? undefined : eraseTexts(value, matches);
}

/** The first matching text of a value. */
function getLabel(value: unknown, matches: (text: string) => boolean): string {
  if (typeof value === 'string') return (value.split('\n').find((line) => matches(line)) ?? value).trim();
  const parts = Array.isArray(value)
    ? value
    : isObject(value)
      ? Object.entries(value).flatMap(([name, each]) => (containsText({ [name]: each }, matches) ? [each] : []))
      : [];
  const found = parts.find((part) => containsText(part, matches));
  return found === undefined ? '' : getLabel(found, matches);
}

const getPlace = ({ path, key }: RecordValue, id: string): string => (typeof path === 'string' ? path : typeof key === 'string' ? key : id);
