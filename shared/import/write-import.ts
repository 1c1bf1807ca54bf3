import { toBase64 } from '../base64.ts';
import { RpcError } from '../rpc/rpc-error.ts';
import type { HistoryMessage, SessionEntry } from '../rpc/record-schemas.ts';
import { hasVisibleText } from '../display-name.ts';
import { sha256 } from '../sha256.ts';
import type { ImportedChat, ImportedMessage } from './imported-chat.ts';
import { readBlob } from './import-files.ts';
import type { ImportedMemory } from './memory-list.ts';
import { type GatewayCall, createRetryingCall } from './retrying-call.ts';
import type { PictureIndex } from './picture-index.ts';
import type { Importable, ImportedSkill, ImportReading } from './read-import.ts';

/** Placeholder for a picture that is missing from the export. */
const MISSING_PICTURE = '[Picture]';
/** Limits of `sessions.rename` and `sessions.tag`. */
const MAX_TITLE_CHARS = 200;
const MAX_TAG_CHARS = 50;
const MAX_TAGS = 50;
/** Maximum number of characters of one `sessions.import`, below the size of a frame. */
const MAX_CHAT_CHARS = 20 * 1024 * 1024;
/** Maximum size of a file of a workspace. */
const MAX_FILE_BYTES = 8 * 1024 * 1024;
const HASH_CHARS = 32;

export interface ImportResult {
  chats: { added: number; known: number };
  messages: number;
  pictures: { added: number; missing: number };
  memories: { added: number; known: number };
  skills: { added: number; known: number };
  /** Names of attachments and files that were left out. */
  leftOut: string[];
  /** Items that the gateway refused, by the title of the chat, the file or the memory. */
  problems: { name: string; error: unknown }[];
}

interface WriteOptions {
  agentId: string;
  /** A person has read the memories: they need no review. */
  isReviewed?: boolean;
  signal?: AbortSignal;
  /** Called after each item. */
  onProgress?: (result: ImportResult, done: number, all: number) => void;
  onSession?: (session: SessionEntry) => void;
}

export const createEmptyResult = (): ImportResult => ({
  chats: { added: 0, known: 0 },
  messages: 0,
  pictures: { added: 0, missing: 0 },
  memories: { added: 0, known: 0 },
  skills: { added: 0, known: 0 },
  leftOut: [],
  problems: [],
});

/**
 * Writes what was read to the vault, item by item, as outside content (docs/decisions/0086-outside-content.md). What exists already is counted, not written again.
 * A refused item is reported in `problems` and stops nothing else; an aborted signal ends between two items.
 */
export async function writeImport(
  reading: ImportReading,
  call: GatewayCall,
  { agentId, isReviewed = false, signal, onProgress, onSession }: WriteOptions,
): Promise<ImportResult> {
  const retryingCall = createRetryingCall(call, signal);
  const result = createEmptyResult();
  result.leftOut.push(...reading.leftOut);
  const writer = new ImportWriter(retryingCall, agentId, result, reading.pictures, onSession);
  const steps: [string, () => Promise<void>][] = [
    ...reading.chats.map((each): [string, () => Promise<void>] => [toName(each), () => writer.addChat(each)]),
    ...reading.memories.map(({ memory, product }): [string, () => Promise<void>] => [
      memory.text,
      () => writer.addMemory(memory, isReviewed ? undefined : product),
    ]),
    ...reading.days.map((day): [string, () => Promise<void>] => [`${day.date}.md`, () => writer.addDay(day)]),
    ...reading.skills.map((skill): [string, () => Promise<void>] => [skill.name, () => writer.addSkill(skill)]),
  ];
  let done = 0;
  for (const [name, step] of steps) {
    if (signal?.aborted) break;
    try {
      await step();
    } catch (error) {
      if (signal?.aborted) break;
      result.problems.push({ name, error });
    }
    onProgress?.(result, ++done, steps.length);
  }
  return result;
}

/** An export of Perch is reported by its file, since its title does not show its origin. */
const toName = (each: Importable): string => (each.kind === 'perch' ? each.file : each.chat.title);

class ImportWriter {
  readonly #call: GatewayCall;
  readonly #agentId: string;
  readonly #result: ImportResult;
  readonly #pictures: PictureIndex;
  readonly #onSession: WriteOptions['onSession'];
  #workspace: Promise<string> | undefined;

  constructor(call: GatewayCall, agentId: string, result: ImportResult, pictures: PictureIndex, onSession: WriteOptions['onSession']) {
    [this.#call, this.#agentId, this.#result, this.#pictures, this.#onSession] = [call, agentId, result, pictures, onSession];
  }

  async addChat(each: Importable): Promise<void> {
    const { chats } = this.#result;
    try {
      if (each.kind === 'perch') await this.#addPerch(each);
      else await this.#addOther(each.product, each.chat);
      chats.added++;
    } catch (error) {
      if (!(error instanceof RpcError) || error.code !== 'ALREADY_EXISTS') throw error;
      chats.known++;
    }
  }

  async #addPerch({ content, title }: { content: string; title: string }): Promise<void> {
    const sessionId = await toSessionId('', content);
    const { session } = await this.#call('sessions.import', { content, ...toTitle(title), agentId: this.#agentId, sessionId });
    this.#result.messages += session.messageCount;
    this.#onSession?.(session);
  }

  async #addOther(product: string, chat: ImportedChat): Promise<void> {
    const sessionId = await toSessionId(chat.id, JSON.stringify([product, chat.title, chat.messages.map(({ text }) => text)]));
    const { content, added, missing } = await toJsonLines(chat, this.#pictures);
    const { session } = await this.#call('sessions.import', { content, ...toTitle(chat.title), agentId: this.#agentId, sessionId });
    this.#result.messages += chat.messages.length;
    this.#result.pictures.added += added;
    this.#result.pictures.missing += missing;
    this.#result.leftOut.push(...chat.leftOut);
    this.#onSession?.(session);
    const { path } = session;
    const tags = toTags(chat.tags);
    if (tags.length > 0) await this.#call('sessions.tag', { path, tags });
    if (chat.pinned) await this.#call('sessions.pin', { path, pinned: true });
    if (chat.archived) await this.#call('sessions.archive', { path, archived: true });
  }

  /** Without a product, the memory counts as the user's own. */
  async addMemory(memory: ImportedMemory, product: string | undefined): Promise<void> {
    const outside = product === undefined ? {} : { outside: [toImportSource(product)] };
    const { added } = await this.#call('memory.add', { agentId: this.#agentId, ...memory, ...outside });
    this.#result.memories[added ? 'added' : 'known']++;
  }

  async addDay({ date, text }: { date: string; text: string }): Promise<void> {
    const isNew = await this.#addFile(`memory/${date}.md`, { content: text, encoding: 'utf8' }, 'OpenClaw');
    this.#result.memories[isNew ? 'added' : 'known']++;
  }

  async addSkill({ name, files }: ImportedSkill): Promise<void> {
    let added = 0;
    for (const { path, file } of files) {
      if (file.size > MAX_FILE_BYTES) {
        this.#result.leftOut.push(path);
        continue;
      }
      const bytes = new Uint8Array(await (await readBlob(file, MAX_FILE_BYTES)).arrayBuffer());
      if (await this.#addFile(`skills/${name}/${path}`, toContent(bytes), 'OpenClaw')) added++;
    }
    this.#result.skills[added > 0 ? 'added' : 'known']++;
  }

  /** Writes a new file with its label; a file that exists is kept. */
  async #addFile(path: string, file: { content: string; encoding: 'utf8' | 'base64' }, product: string): Promise<boolean> {
    this.#workspace ??= this.#call('wiki.stats', { agentId: this.#agentId }).then(({ workspace }) => workspace);
    const workspace = await this.#workspace;
    const { files } = await this.#call('workspace.list', { workspace, under: path.slice(0, path.lastIndexOf('/')) });
    if (files.some((each) => each.path === path.normalize('NFC'))) return false;
    await this.#call('workspace.write', { workspace, path, ...file, outside: [toImportSource(product)] });
    return true;
  }
}

/** The source of imported content, as labels name it. */
const toImportSource = (product: string): string => `import:${product}`;

/** An ID that is the same for the same chat: the product's own, or a hash of the content. */
async function toSessionId(id: string, content: string): Promise<string> {
  return `import-${/^[\w-]{1,120}$/.test(id) ? id : (await sha256(content)).slice(0, HASH_CHARS)}`;
}

/** A chat as `sessions.import` reads it, with the pictures that were found. */
export async function toJsonLines(
  { messages }: Pick<ImportedChat, 'messages'>,
  pictures: PictureIndex,
): Promise<{ content: string; added: number; missing: number }> {
  let content = '';
  let [added, missing] = [0, 0];
  let remainingChars = MAX_CHAT_CHARS - messages.reduce((sum, { text }) => sum + text.length, 0);
  for (const message of messages) {
    const parts: Extract<Exclude<HistoryMessage['content'], string>[number], { type: 'image' }>[] = [];
    let missed = 0;
    for (const reference of message.pictures) {
      const picture = await toPart(reference, pictures);
      if (!picture || picture.data.length > remainingChars) missed++;
      else {
        remainingChars -= picture.data.length;
        parts.push(picture);
      }
    }
    added += parts.length;
    missing += missed;
    content += `${JSON.stringify(toHistoryMessage(message, parts, missed))}\n`;
  }
  return { content, added, missing };
}

async function toPart(reference: ImportedMessage['pictures'][number], pictures: PictureIndex) {
  if ('data' in reference) {
    const kind = reference.mimeType.replace('image/', '');
    return { type: 'image' as const, ...reference, filename: `picture.${kind}` };
  }
  const picture = await pictures.read(reference.file);
  return picture && { type: 'image' as const, mimeType: picture.mimeType, data: toBase64(picture.bytes), filename: picture.filename };
}

function toHistoryMessage(
  { id, parentId, role, text, timestamp, model }: ImportedMessage,
  parts: readonly { type: 'image'; mimeType: string; data: string; filename?: string | undefined }[],
  missing: number,
): Omit<HistoryMessage, 'content'> & { content: unknown } {
  const content = [text, ...Array.from({ length: missing }, () => MISSING_PICTURE)].filter((each) => each.trim() !== '').join('\n\n');
  const fields = { id, parentId, role, timestamp, ...(model === undefined ? {} : { model }) };
  if (parts.length === 0) return { ...fields, content: content };
  return {
    ...fields,
    content: content === '' ? parts : [{ type: 'text', text: content }, ...parts],
    // A history that leaves out the bytes of large pictures names them by this.
    attachments: parts.map(({ filename = 'picture', mimeType, data }) => ({ filename, mimeType, size: Math.floor((data.length * 3) / 4) })),
  };
}

function toContent(bytes: Uint8Array<ArrayBuffer>): { content: string; encoding: 'utf8' | 'base64' } {
  try {
    return { content: new TextDecoder('utf-8', { fatal: true }).decode(bytes), encoding: 'utf8' };
  } catch {
    return { content: toBase64(bytes), encoding: 'base64' };
  }
}

const toTitle = (title: string): { title?: string } => (hasVisibleText(title) ? { title: truncate(title, MAX_TITLE_CHARS) } : {});

/** The beginning of a text, without half a character at its end. */
const truncate = (text: string, chars: number): string =>
  text
    .trim()
    .slice(0, chars)
    .replace(/[\ud800-\udbff]$/, '')
    .trimEnd();

/** Tags within the limits of `sessions.tag`: visible, short, each once. */
export const toTags = (tags: readonly string[]): string[] =>
  [...new Set(tags.map((tag) => truncate(tag, MAX_TAG_CHARS)))].filter(hasVisibleText).slice(0, MAX_TAGS);
