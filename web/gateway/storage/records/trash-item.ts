import type { MemoryEntry } from '#shared/rpc/methods/memory-contracts.ts';
import type { SessionRecord } from '../chat-records.ts';
import type { DrawingRecord } from './drawing-record.ts';
import type { ProjectRecord } from './project-record.ts';

interface TrashItemFields {
  id: string;
  title: string;
  /** Time of the deletion, in milliseconds since 1970. */
  deletedAt: number;
}

/** A deleted chat. Its messages and ended runs are in `trashRecords`. */
export interface TrashedChat extends TrashItemFields {
  kind: 'chat';
  session: SessionRecord;
  /** Sessions of its sub-agents, whose messages and runs are there too. */
  subAgents?: SessionRecord[];
}

/** A deleted drawing. Its changes are in `trashRecords`. `outside`: sources of its label. */
export interface TrashedDrawing extends TrashItemFields {
  kind: 'drawing';
  drawing: DrawingRecord;
  outside: string[];
}

export interface TrashedPage extends TrashItemFields {
  kind: 'page';
  agentId: string;
  path: string;
  content: string;
  frontMatter?: string;
  /** Sources of its label; undefined in items of builds that left the label at the path. */
  outside?: string[];
}

export interface TrashedMemory extends TrashItemFields {
  kind: 'memory';
  agentId: string;
  /** Workspace of a project's memory; undefined for that of the agent. */
  workspace?: string;
  text: string;
  category: MemoryEntry['category'];
  createdAt: number;
  outside: string[];
}

/** A deleted project. Its chats keep its id, and its files and memory stay in its workspace. */
export interface TrashedProject extends TrashItemFields {
  kind: 'project';
  project: ProjectRecord;
}

/** Something deleted that can be restored (docs/decisions/0130-trash.md). */
export type TrashItem = TrashedChat | TrashedDrawing | TrashedPage | TrashedMemory | TrashedProject;

/** A record of another store that was moved to the trash with its item. */
export interface TrashedRecord {
  /** `<item>/<store>/<key of the record>` */
  key: string;
  store: 'messages' | 'runs' | 'drawingChanges';
  record: object;
  /** Hashes of a message's attachments, so that they are kept. */
  blobs?: string[];
}
