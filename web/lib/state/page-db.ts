import { type DBSchema, type IDBPDatabase, openDB } from 'idb';
import type { Change } from '#shared/canvas/change.ts';
import type { AttachmentInput } from '#shared/rpc/methods/chat-contracts.ts';
import { toScopedName } from '#lib/demo.ts';
import type { Problem } from '#lib/problems.ts';

/** A file chosen for a message: its bytes as base64. */
export interface PickedFile {
  id: string;
  filename: string;
  mimeType: string;
  size: number;
  content: string;
  /** Of a picture made on the Annotate page: where it can be changed, and what its numbers stand for, to be sent as text beside it. */
  drawing?: { id: string; notes: string };
  /** A long text that was pasted, and can go into the message instead. */
  pasted?: boolean;
}

/** A message on its way: kept here until the gateway has stored it. */
export interface OutboxRecord {
  /** Also the idempotency key, so that a second try cannot make a second message. */
  id: string;
  agentId: string;
  sessionId: string;
  message: string;
  files: PickedFile[];
  model: string | null;
  createdAt: number;
  /** Its place among those of its chat: the lowest goes first. */
  place: number;
  /** The reply under way is to take it in. */
  steer: boolean;
  /** There was no chat yet: it makes one. */
  begins: boolean;
  /** Set when the gateway refused it, or it was stopped before its turn: it waits for a decision. */
  failure: Problem | null;
  /** Sent at least once: look for it in the history before sending again. */
  tried: boolean;
}

/** Unsaved text of a wiki page. */
export interface PageDraft {
  path: string;
  title: string;
  tags: string;
  content: string;
  frontMatter?: string;
  /** Of the page that it was made from; null: of none. */
  version: string | null;
}

/** A draft of one tab: two that edit the same page do not write over each other's. */
export interface StoredPageDraft {
  id: string;
  agent: string;
  /** As the address of the editor has it; empty for a page that has none yet. */
  path: string;
  /** Milliseconds since 1970. */
  at: number;
  draft: PageDraft;
}

/** Changes to a drawing that the gateway has not confirmed yet. */
export interface PendingDrawingChanges {
  id: string;
  drawingId: string;
  changes: Change[];
  /** Milliseconds since 1970. */
  at: number;
}

interface PageSchema extends DBSchema {
  outbox: { key: string; value: OutboxRecord };
  draftFiles: { key: string; value: PickedFile[] };
  wikiDrafts: { key: string; value: StoredPageDraft };
  drawingChanges: { key: string; value: PendingDrawingChanges; indexes: { drawingId: string } };
}

let openedDb: Promise<IDBPDatabase<PageSchema>> | undefined;

/**
 * Opens the database of the app's pages, apart from the gateway's data: outgoing messages, files of drafts, wiki drafts, and changes to
 * drawings.
 */
export function pageDb(): Promise<IDBPDatabase<PageSchema>> {
  openedDb ??= openDB<PageSchema>(toScopedName('perch-page'), 3, {
    upgrade(db, from) {
      if (from < 1) {
        db.createObjectStore('outbox', { keyPath: 'id' });
        db.createObjectStore('draftFiles');
      }
      if (from < 2) db.createObjectStore('wikiDrafts', { keyPath: 'id' });
      if (from < 3) db.createObjectStore('drawingChanges', { keyPath: 'id' }).createIndex('drawingId', 'drawingId');
    },
    blocking: (_current, _blocked, event) => (event.target as IDBDatabase).close(),
    terminated: () => (openedDb = undefined),
  }).catch((error: unknown) => {
    openedDb = undefined;
    throw error;
  });
  return openedDb;
}

/** As `chat.send` takes it. */
export function toAttachment({ filename, mimeType, size, content }: PickedFile): AttachmentInput {
  return { filename, mimeType, size, content };
}
