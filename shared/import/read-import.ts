import { type ImportedChat, isFields } from './imported-chat.ts';
import {
  baseName,
  ByteBudget,
  type SelectedFile,
  MAX_IMPORT_BYTES,
  type ImportFile,
  isZip,
  limitStream,
  openZip,
  readText,
} from './import-files.ts';
import { NotUtf8, readValues, ValueTooLarge } from './json-values.ts';
import { type ImportedMemory, parseMemoryList, readMemoryValue } from './memory-list.ts';
import { PictureIndex } from './picture-index.ts';
import { CHAT_FORMATS } from './products/index.ts';
import { type ImportErrorCode, ImportError } from './import-error.ts';

/** An importable chat: of another product, or an unchanged export of Perch. */
export type Importable =
  { kind: 'other'; product: string; chat: ImportedChat } | { kind: 'perch'; content: string; title: string; file: string };

/** A skill: the files of its folder, with their paths within it. */
export interface ImportedSkill {
  name: string;
  files: { path: string; file: ImportFile }[];
}

/** Everything that was found in the chosen files. Nothing is written yet. */
export interface ImportReading {
  chats: Importable[];
  memories: { product: string; memory: ImportedMemory }[];
  /** Daily notes, by date. */
  days: { date: string; text: string }[];
  skills: ImportedSkill[];
  /** Number of list elements that are not chats with messages, by file. */
  unrecognized: { file: string; count: number }[];
  /** Files that could not be read, and why. */
  rejected: { file: string; why: ImportErrorCode }[];
  /** Names of files that were left out. */
  leftOut: string[];
  pictures: PictureIndex;
}

/** Creates a reading that has only these memories, such as those of a pasted list. */
export const toMemoryReading = (memories: readonly ImportedMemory[], product: string): ImportReading => ({
  ...{ chats: [], days: [], skills: [], unrecognized: [], rejected: [], leftOut: [], pictures: new PictureIndex() },
  memories: memories.map((memory) => ({ product, memory })),
});

/**
 * Reads chats, memories and skills from exports: of Perch (JSON Lines, Markdown or a zip of several) and of the products in `CHAT_FORMATS`, also as zip files and folders.
 * Large lists are read as a stream. Rejects with `ImportError` if a single chosen file contains nothing to import.
 */
export async function readImport(files: readonly SelectedFile[]): Promise<ImportReading> {
  const reading = new ImportCollector();
  for (const { path, blob } of files) {
    try {
      await reading.addSelected(path, blob);
    } catch (error) {
      const refusal = toImportError(error);
      if (files.length === 1) throw refusal;
      reading.rejected.push({ file: baseName(path), why: refusal.refusal });
    }
  }
  await reading.addFolder();
  return reading.finish(files.length === 1);
}

class ImportCollector {
  readonly rejected: ImportReading['rejected'] = [];
  readonly #perch: Importable[] = [];
  readonly #chats = CHAT_FORMATS.map((format) => ({ format, chats: [] as ImportedChat[] }));
  readonly #memories: ImportReading['memories'] = [];
  readonly #days: ImportReading['days'] = [];
  readonly #skills = new Map<string, ImportedSkill>();
  readonly #unrecognized = new Map<string, number>();
  readonly #skipped: string[] = [];
  readonly #notes: string[] = [];
  readonly #folder: ImportFile[] = [];
  readonly #pictures = new PictureIndex();
  readonly #budget = new ByteBudget(MAX_IMPORT_BYTES);
  #isZip = false;

  async addSelected(path: string, blob: Blob): Promise<void> {
    const isAlone = !path.includes('/');
    if (blob.size === 0) {
      if (isAlone) throw new ImportError('empty');
      return;
    }
    if (await isZip(blob)) {
      this.#isZip = true;
      return this.#addAll(await openZip(blob));
    }
    const file: ImportFile = { path, size: blob.size, isStandalone: isAlone, stream: () => blob.stream() };
    if (isAlone) await this.#add(file);
    else this.#folder.push(file);
  }

  /** Adds the files of folders, which belong together. */
  async addFolder(): Promise<void> {
    await this.#addAll(this.#folder);
  }

  /** Adds the files of a folder or zip: unreadable ones are reported, the others are read. */
  async #addAll(files: readonly ImportFile[]): Promise<void> {
    const skills = new Set(files.flatMap(({ path }) => /^(?:.*\/)?SKILL\.md$/.exec(path)?.[0].slice(0, -'SKILL.md'.length) ?? []));
    for (const file of files) {
      const folder = [...skills].find((prefix) => file.path.startsWith(prefix));
      if (folder !== undefined) this.#addToSkill(folder, file);
      else
        try {
          await this.#add(file);
        } catch (error) {
          const { refusal } = toImportError(error);
          if (refusal === 'innerTooLarge') throw error;
          // Exports have other JSON files, too.
          if (refusal === 'unknown') this.#skipped.push(baseName(file.path));
          else this.rejected.push({ file: baseName(file.path), why: refusal });
        }
    }
  }

  async #add(file: ImportFile): Promise<void> {
    const name = baseName(file.path);
    if (this.#pictures.add(file)) return;
    if (/\.html?$/i.test(name)) {
      // Exports have other pages, too, some of them large.
      if (file.isStandalone || /gemini|bard|a[ck]ti[vw]/i.test(file.path)) await this.#addPage(file);
      return;
    }
    if (/\.jsonl$|\.ndjson$/i.test(name)) return this.#addText(await readText(file, this.#budget), file);
    if (/\.(md|markdown)$/i.test(name)) return this.#addMarkdown(await readText(file, this.#budget), file);
    if (!file.isStandalone && !/\.json$/i.test(name)) return void this.#skipped.push(name);
    if (file.size > MAX_IMPORT_BYTES) throw new ImportError(file.isStandalone ? 'tooLarge' : 'innerTooLarge');
    await this.#addJson(file);
  }

  async #addJson(file: ImportFile): Promise<void> {
    const counts = { chats: 0, strange: 0 };
    /** Applied once the whole list has been read. A list without its end is discarded. */
    const additions: (() => void)[] = [];
    let text: string | null;
    try {
      text = await readValues(limitStream(file.stream(), this.#budget), (value) => {
        const add = this.#recognize(value, file.path);
        if (!add) return counts.strange++;
        counts.chats++;
        additions.push(add);
      });
    } catch (error) {
      if (error instanceof SyntaxError) throw new ImportError('notJson');
      if (error instanceof NotUtf8) throw new ImportError('notUtf8');
      if (error instanceof ValueTooLarge) throw new ImportError('innerTooLarge');
      throw error;
    }
    if (text !== null) return this.#addText(text, file);
    if (counts.chats === 0) throw new ImportError('unknown');
    for (const add of additions) add();
    if (counts.strange > 0) this.#addUnrecognized(file.path, counts.strange);
  }

  async #addPage(file: ImportFile): Promise<void> {
    const html = await readText(file, this.#budget);
    for (const { format, chats } of this.#chats) {
      const page = format.fromHtml?.(html);
      if (!page) continue;
      if (page.chats.length + page.unrecognized === 0) break;
      chats.push(...page.chats);
      if (page.unrecognized > 0) this.#addUnrecognized(file.path, page.unrecognized);
      return;
    }
    throw new ImportError(file.isStandalone ? 'geminiHtml' : 'unknown');
  }

  #addText(text: string, file: ImportFile): void {
    const { path } = file;
    const value = parse(text);
    if (value === undefined) {
      if (/^\s*#/.test(text)) return this.#addChatMarkdown(text, file);
      const first = parse(text.split('\n', 1)[0] ?? '');
      if (!isFields(first)) throw new ImportError('notJson');
      return this.#addLines(text, first, file);
    }
    // A chat of one message is a single line, which is JSON as a whole.
    if (isPerchMessage(value)) return this.#addPerch(text, path);
    const add = this.#recognize(value, path);
    if (add) return add();
    if (isFields(value) && /\.(jsonl|ndjson)$/i.test(path)) return this.#addLines(text, value, file);
    throw new ImportError('unknown');
  }

  #addLines(text: string, first: Readonly<Record<string, unknown>>, { path, isStandalone }: ImportFile): void {
    if (!isPerchMessage(first)) {
      const values: unknown[] = [];
      for (const line of text.split('\n')) {
        if (line.trim() === '') continue;
        const value = parse(line);
        if (value === undefined) throw new ImportError('notJson');
        values.push(value);
      }
      for (const { format, chats } of this.#chats) {
        const foundChats = format.fromLines?.(values, path);
        if (foundChats) return void chats.push(...foundChats);
      }
      // Folders of programs have logs, too.
      if (!isStandalone) throw new ImportError('unknown');
    }
    this.#addPerch(text, path);
  }

  /** Returns the action for a value of a known format; undefined if the format is unknown. */
  #recognize(value: unknown, path: string): (() => void) | undefined {
    for (const { format, chats } of this.#chats) {
      const foundChats = format.fromValue?.(value, path);
      if (foundChats)
        return () => {
          const empty = foundChats.filter(({ messages }) => messages.length === 0);
          if (empty.length > 0 && !format.join) this.#addUnrecognized(path, empty.length);
          chats.push(...(format.join ? foundChats : foundChats.filter(({ messages }) => messages.length > 0)));
        };
    }
    const memories = isFields(value) && 'conversations_memory' in value ? readMemoryValue(value) : null;
    return memories ? () => void this.#memories.push(...memories.map((memory) => ({ product: 'Claude', memory }))) : undefined;
  }

  #addMarkdown(text: string, file: ImportFile): void {
    const name = baseName(file.path);
    const date = /(?:^|\/)memory\/(\d{4}-\d\d-\d\d)\.md$/.exec(file.path)?.[1];
    if (date !== undefined) return void this.#days.push({ date, text });
    if (/^(MEMORY|USER)\.md$/.test(name))
      return void this.#memories.push(...parseMemoryList(text).map((memory) => ({ product: 'OpenClaw', memory })));
    this.#addChatMarkdown(text, file);
  }

  #addChatMarkdown(text: string, { path, isStandalone }: ImportFile): void {
    if (!/^## (You|Assistant)\b/m.test(text)) {
      if (isStandalone) throw new ImportError('noSpeaker');
      return void this.#notes.push(baseName(path));
    }
    const [, title = toTitle(path)] = /^\s*# (.+)/.exec(text) ?? [];
    this.#addPerch(text, path, title);
  }

  #addPerch(content: string, path: string, title = toTitle(path)): void {
    this.#perch.push({ kind: 'perch', content, title, file: baseName(path) });
  }

  #addToSkill(folder: string, file: ImportFile): void {
    const name = baseName(folder.slice(0, -1)) || 'skill';
    const skill = this.#skills.get(folder) ?? { name, files: [] };
    skill.files.push({ path: file.path.slice(folder.length), file });
    this.#skills.set(folder, skill);
  }

  #addUnrecognized(path: string, count: number): void {
    const name = baseName(path);
    this.#unrecognized.set(name, (this.#unrecognized.get(name) ?? 0) + count);
  }

  finish(isOne: boolean): ImportReading {
    const otherChats = this.#chats.flatMap(({ format, chats }) => {
      const joined = (format.join?.(chats) ?? chats).filter(({ messages }) => messages.length > 0);
      return joined.map((chat): Importable => ({ kind: 'other', product: format.product, chat }));
    });
    const chats = [...this.#perch, ...otherChats];
    const skills = [...this.#skills.values()];
    const isEmpty = chats.length + this.#memories.length + this.#days.length + skills.length === 0;
    if (isEmpty && this.#notes.length > 0) throw new ImportError('notes');
    // Markdown without speakers is an error among chats of Perch; other programs have it as well.
    if (chats.length > this.#perch.length || chats.length === 0) this.#skipped.push(...this.#notes);
    else for (const file of this.#notes) this.rejected.push({ file, why: 'noSpeaker' });
    if (isEmpty && isOne && this.rejected.length === 0) throw new ImportError(this.#isZip ? 'nothingInside' : 'unknown');
    return {
      chats,
      memories: [...new Map(this.#memories.map((each) => [each.memory.text, each])).values()],
      days: this.#days,
      skills,
      unrecognized: [...this.#unrecognized].map(([file, count]) => ({ file, count })),
      rejected: this.rejected,
      leftOut: this.#skipped,
      pictures: this.#pictures,
    };
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const isPerchMessage = (value: unknown): boolean =>
  isFields(value) && typeof value['role'] === 'string' && 'content' in value && !('object' in value);

function toImportError(error: unknown): ImportError {
  return error instanceof ImportError ? error : new ImportError('damaged', { cause: error });
}

const toTitle = (path: string): string => baseName(path).replace(/\.(jsonl|json|md|markdown|txt)$/i, '');

/** Whether a JSON file that was opened is a saved chat; data that only looks like JSON Lines goes with a message. */
export const isSavedChat = ({ chats }: ImportReading): boolean =>
  chats.some((chat) => chat.kind === 'other' || /"role"\s*:\s*"(?:user|assistant|system|tool)"/.test(chat.content.split('\n', 1)[0] ?? ''));
