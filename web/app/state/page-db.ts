import { type DBSchema, type IDBPDatabase, openDB } from 'idb';
import type { Change } from '#shared/canvas/change.ts';
import type { AttachmentInput } from '#shared/rpc/methods/chat-contracts.ts';
import { toScopedName } from './demo.ts';
import type { Problem } from '#kit/problems.ts';

/** A file chosen for a message: its bytes as base64. */
export interface PickedFile {
  id: string;
  filename: string;
  mimeType: string;
  size: number;
  content: string;
  /** For a picture of the Annotate page: its drawing, and the notes of its markers, sent as text with it. */
  drawing?: { id: string; notes: string };
  /** The file is a long pasted text, which can be moved into the message. */
  pasted?: boolean;
}

/** An outgoing message, stored until the gateway has stored it. */
export interface OutboxRecord {
  /** Also the idempotency key, so that a retry cannot create a second message. */
  id: string;
  agentId: string;
  sessionId: string;
  message: string;
  files: PickedFile[];
  model: string | null;
  createdAt: number;
  /** Position among the messages of its chat: the lowest is sent first. */
  place: number;
  /** The message goes into the running reply. */
  steer: boolean;
  /** The message creates its chat. */
  begins: boolean;
  /** Set if the gateway refused the message, or it was held back: it waits for a decision. */
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
  /** Version of the page that it was made from; null for a new page. */
  version: string | null;
}

/** A draft of one tab: tabs that edit the same page do not overwrite each other's drafts. */
export interface StoredPageDraft {
  id: string;
  agent: string;
  /** Path in the address of the editor; empty for a new page. */
  path: string;
  /** Milliseconds since 1970. */
  at: number;
  draft: PageDraft;
}

/** Changes to a drawing that the gateway has not confirmed yet. */
interface PendingDrawingChanges {
  id: string;
  drawingId: string;
  changes: Change[];
  /** Milliseconds since 1970. */
  at: number;
}

/** A folder of this computer that was added to a collection. */
interface StoredFolder {
  /** `<collection id>/<name>`. */
  id: string;
  collectionId: string;
  handle: FileSystemDirectoryHandle;
}

interface PageSchema extends DBSchema {
  outbox: { key: string; value: OutboxRecord };
  draftFiles: { key: string; value: PickedFile[] };
  wikiDrafts: { key: string; value: StoredPageDraft };
  drawingChanges: { key: string; value: PendingDrawingChanges; indexes: { drawingId: string } };
  collectionFolders: { key: string; value: StoredFolder; indexes: { collectionId: string } };
}

let openedDb: Promise<IDBPDatabase<PageSchema>> | undefined;

/**
 * Opens the database of the app's pages, apart from the gateway's data: outgoing messages, files of drafts, wiki drafts, changes to
 * drawings, and folders of collections.
 */
export function pageDb(): Promise<IDBPDatabase<PageSchema>> {
  openedDb ??= openDB<PageSchema>(toScopedName('perch-page'), 4, {
    upgrade(db, from) {
      if (from < 1) {
        db.createObjectStore('outbox', { keyPath: 'id' });
        db.createObjectStore('draftFiles');
      }
      if (from < 2) db.createObjectStore('wikiDrafts', { keyPath: 'id' });
      if (from < 3) db.createObjectStore('drawingChanges', { keyPath: 'id' }).createIndex('drawingId', 'drawingId');
      if (from < 4) db.createObjectStore('collectionFolders', { keyPath: 'id' }).createIndex('collectionId', 'collectionId');
    },
    blocking: (_current, _blocked, event) => (event.target as IDBDatabase).close(),
    terminated: () => (openedDb = undefined),
  }).catch((error: unknown) => {
    openedDb = undefined;
    throw error;
  });
  return openedDb;
}

/** Converts a file to the form of `chat.send`. */
export function toAttachment({ filename, mimeType, size, content }: PickedFile): AttachmentInput {
  return { filename, mimeType, size, content };
}
