import type { FileEntry } from '@zip.js/zip.js';
import { m } from '#lib/i18n/later.ts';
import { fromChatGpt } from './chatgpt.ts';
import { type ImportedChat, isFields } from './imported-chat.ts';
import { fromLibreChat } from './librechat.ts';
import { fromOpenWebUi } from './open-webui.ts';

/** A chat that can be brought in: its text as Perch exports it, with the file that it is of, or what is known of it. */
export type Importable = { kind: 'other'; chat: ImportedChat } | { kind: 'perch'; content: string; title: string; file: string };

/** Bytes of a file that is read: what a tab can hold several times over. */
export const IMPORT_BYTES = 500 * 1024 * 1024;
/** What is wrong with a file, to stand behind its name. */
export class Unimportable extends Error {
  override readonly name = 'Unimportable';
}
/** A zip that cannot be read, whatever was to be in it. */
export class BrokenZip extends Unimportable {}
const tooLarge = (): Unimportable => new Unimportable(m.chat_import_inner_too_large());
const ZIP = [0x50, 0x4b, 0x03, 0x04];

export interface Read {
  chats: Importable[];
  /** Chats of a list that are none. */
  strange: number;
  /** Files in a zip that are no chat, and what is wrong with each. */
  refused: { file: string; why: string }[];
}

/**
 * The chats of a file: those that Perch has exported (JSON Lines, Markdown, or a zip of several), and the exports of ChatGPT (`conversations.json`, or the zip with it), Open WebUI and LibreChat.
 * Rejects with an `Unimportable` that says what is wrong with it.
 */
export async function readExport(file: File): Promise<Read> {
  if (file.size === 0) throw new Unimportable(m.chat_import_empty());
  if (file.size > IMPORT_BYTES) throw new Unimportable(m.chat_import_too_large());
  const head = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  return ZIP.every((byte, at) => head[at] === byte) ? chatsOfZip(file) : chatsOf(await utf8(file), file.name);
}

function chatsOf(text: string, name: string): Read {
  const whole = parsed(text);
  if (whole === undefined && /^\s*#/.test(text)) {
    if (!/^## (You|Assistant)\b/m.test(text)) throw new Unimportable(m.chat_import_no_speaker());
    const [, title = titleOf(name)] = /^\s*# (.+)/.exec(text) ?? [];
    return { chats: [{ kind: 'perch', content: text, title, file: name }], strange: 0, refused: [] };
  }
  if (whole === undefined) {
    const [first = ''] = text.split('\n', 1);
    if (!isFields(parsed(first))) throw new Unimportable(m.chat_import_no_json());
    return { chats: [{ kind: 'perch', content: text, title: titleOf(name), file: name }], strange: 0, refused: [] };
  }
  // A chat of a single message is one line, which is JSON as a whole.
  if (isFields(whole) && typeof whole['role'] === 'string' && 'content' in whole)
    return { chats: [{ kind: 'perch', content: text, title: titleOf(name), file: name }], strange: 0, refused: [] };
  const list = Array.isArray(whole) ? (whole as unknown[]) : [whole];
  const chats = list.flatMap((each): Importable[] => {
    const chat = fromChatGpt(each) ?? fromOpenWebUi(each) ?? fromLibreChat(each);
    return chat && chat.messages.length > 0 ? [{ kind: 'other', chat }] : [];
  });
  if (chats.length === 0) throw new Unimportable(m.chat_import_unknown());
  return { chats, strange: list.length - chats.length, refused: [] };
}

async function utf8(file: Blob): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    throw new Unimportable(m.chat_import_not_utf8());
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** ChatGPT's export is a zip with `conversations.json` in it, that of several chats of Perch one with a file for each. */
async function chatsOfZip(file: File): Promise<Read> {
  const { BlobReader, configure, ZipReader } = await import('@zip.js/zip.js/index-native.js');
  configure({ useWebWorkers: false });
  const zip = new ZipReader(new BlobReader(file));
  try {
    const entries = (await zip.getEntries()).filter((entry) => !entry.directory);
    const inner = entries.find(({ filename }) => /(^|\/)conversations\.json$/.test(filename));
    const wanted = inner ? [inner] : entries.filter(({ filename }) => /\.(jsonl|md)$/i.test(filename));
    if (wanted.length === 0) throw new Unimportable(m.chat_import_no_inner());
    if (wanted.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0) > IMPORT_BYTES) throw tooLarge();
    // The size that it says need not be true.
    let size = 0;
    const unpacked = async (entry: FileEntry): Promise<Blob> => {
      const parts: Uint8Array<ArrayBuffer>[] = [];
      const into = new WritableStream<Uint8Array<ArrayBuffer>>({
        write(part) {
          if ((size += part.length) > IMPORT_BYTES) throw tooLarge();
          parts.push(part);
        },
      });
      await entry.getData(into);
      return new Blob(parts);
    };
    const all: Read = { chats: [], strange: 0, refused: [] };
    for (const entry of wanted) {
      const name = entry.filename.replace(/^.*\//, '');
      try {
        const { chats, strange } = chatsOf(await utf8(await unpacked(entry)), name);
        all.chats.push(...chats);
        all.strange += strange;
      } catch (error) {
        if (size > IMPORT_BYTES) throw error;
        all.refused.push({ file: name, why: error instanceof Unimportable ? error.message : m.chat_import_damaged() });
      }
    }
    return all;
  } catch (error) {
    if (error instanceof Unimportable) throw error;
    throw new BrokenZip(m.chat_import_broken_zip(), { cause: error });
  } finally {
    await zip.close();
  }
}

const titleOf = (name: string): string => name.replace(/\.(jsonl|json|md|markdown|txt)$/i, '');

/** Whether a JSON file that was opened is a saved chat; data that only looks like JSON Lines goes with a message. */
export const isSavedChat = ({ chats }: Read): boolean =>
  chats.some((chat) => chat.kind === 'other' || /"role"\s*:\s*"(?:user|assistant|system|tool)"/.test(chat.content.split('\n', 1)[0] ?? ''));
