import { RpcError } from '#shared/rpc/rpc-error.ts';
import { TimeSlicer } from '#shared/async/time-slicer.ts';
import { normalizeSpacing } from './content-id.ts';
import { toMemoryId } from './index/index-entry.ts';
import {
  formatMemory,
  iterateBlocks,
  MemoryCategory,
  type MemoryBlock,
  type MemoryLine,
  parseMemories,
  replaceBlock,
  removeBlock,
} from './long-term.ts';
import type { Workspace } from './workspace.ts';

/** Maximum length of a memory, in characters. */
const MAX_TEXT_CHARS = 10_000;
const MAX_KEY_CHARS = 200;
/** Years have four digits in the file. */
const [FIRST_TIME, END_OF_TIME] = [Date.parse('0000-01-01T00:00Z'), Date.UTC(10_000, 0)];

/** A line of the long-term file, with an id derived from its text. */
export interface Memory extends MemoryLine {
  id: string;
}

type MemoryItemBlock = MemoryBlock & { kind: 'memory' };

/**
 * The long-term memory file: memories, and preferences by name. Each change rewrites the whole file once and keeps text that people wrote
 * in between.
 */
export class LongTermFile {
  readonly path: string;
  readonly #workspace: Workspace;
  /** Cache of the last read, which may be under way. */
  #read: { version: string; memories: Promise<readonly Memory[]> } | undefined;

  constructor(workspace: Workspace, path: string) {
    [this.#workspace, this.path] = [workspace, path];
  }

  /**
   * Adds memories that do not exist yet, in one step. `added` is false for existing ones. Throws an Error for a text that is empty or too
   * long.
   */
  async add(memories: readonly MemoryLine[]): Promise<{ memory: Memory; added: boolean }[]> {
    const lines = memories.map((line): MemoryLine => ({ ...line, text: validateText(line.text), createdAt: toMinute(line.createdAt) }));
    let results: { memory: Memory; added: boolean }[] = [];
    await this.#workspace.update(this.path, (before = '') => {
      let file = before;
      const memoriesById = new Map(getMemoryBlocks(file).map((block) => [toMemoryId(block.memory.text), block.memory]));
      results = lines.map((line) => {
        const id = toMemoryId(line.text);
        const existing = memoriesById.get(id);
        if (!existing) {
          file = appendLine(file, formatMemory(line));
          memoriesById.set(id, line);
        }
        return { memory: { id, ...(existing ?? line) }, added: !existing };
      });
      return file === before ? undefined : file;
    });
    return results;
  }

  /** Returns false if no memory has that id. */
  async forget(id: string): Promise<boolean> {
    let found = false;
    await this.#workspace.update(this.path, (file = '') => {
      const blocks = getMemoryBlocks(file).filter(({ memory }) => toMemoryId(memory.text) === id);
      found = blocks.length > 0;
      // Last to first, so that earlier line numbers stay valid.
      return found ? blocks.reduceRight(removeBlock, file) : undefined;
    });
    return found;
  }

  /**
   * Stores a preference and replaces earlier ones of the same name, ignoring case. Throws an Error for a name with a line break or a colon.
   */
  async prefer(name: string, value: string, createdAt: number): Promise<{ memory: Memory; replaced: number; removed: string[] }> {
    const key = validateKey(name);
    const line: MemoryLine = {
      text: validateText(`${key}: ${validateText(value)}`),
      category: MemoryCategory.PREFERENCE,
      createdAt: toMinute(createdAt),
    };
    let replaced = 0;
    let removed: string[] = [];
    await this.#workspace.update(this.path, (file = '') => {
      const earlier = getMemoryBlocks(file).filter(({ memory }) => parsePreference(memory)?.key.toLowerCase() === key.toLowerCase());
      const [first, ...others] = earlier;
      replaced = earlier.length;
      removed = earlier.map(({ memory }) => toMemoryId(memory.text)).filter((id) => id !== toMemoryId(line.text));
      if (first?.memory.text === line.text && others.length === 0) return undefined;
      const remaining = others.reduceRight(removeBlock, file);
      return first ? replaceBlock(remaining, first, formatMemory(line)) : appendLine(file, formatMemory(line));
    });
    return { memory: { id: toMemoryId(line.text), ...line }, replaced, removed };
  }

  /**
   * Replaces a memory; undefined if no memory has that id. Throws `ALREADY_EXISTS` if another memory has the same text, and an Error for a
   * text that is empty or too long.
   */
  async replace(id: string, change: { text?: string | undefined; category?: MemoryCategory | undefined }): Promise<Memory | undefined> {
    let replaced: Memory | undefined;
    await this.#workspace.update(this.path, (file = '') => {
      const all = getMemoryBlocks(file);
      const [first, ...others] = all.filter(({ memory }) => toMemoryId(memory.text) === id);
      if (!first) return undefined;
      const { memory } = first;
      const line: MemoryLine = { ...memory, text: validateText(change.text ?? memory.text), category: change.category ?? memory.category };
      replaced = { id: toMemoryId(line.text), ...line };
      if (replaced.id !== id && all.some(({ memory: { text } }) => toMemoryId(text) === replaced?.id))
        throw new RpcError('ALREADY_EXISTS', 'Another memory already has this text.');
      return replaceBlock(others.reduceRight(removeBlock, file), first, formatMemory(line));
    });
    return replaced;
  }

  /** Preferences by name, in file order; the later of two with the same name wins. */
  async preferences(): Promise<Map<string, string>> {
    const preferences = new Map<string, string>();
    for (const { key, value } of (await this.memories()).flatMap((memory) => parsePreference(memory) ?? [])) {
      for (const name of preferences.keys()) if (name.toLowerCase() === key.toLowerCase()) preferences.delete(name);
      preferences.set(key, value);
    }
    return preferences;
  }

  /** Identifies the content of the file; empty if it does not exist. */
  async getVersion(): Promise<string> {
    const file = await this.#workspace.stat(this.path);
    return file ? `${file.modifiedAt}/${file.size}` : '';
  }

  /** Memories in file order. Returns the same array until the file changes. Yields to other tasks while it parses a long file. */
  async memories(): Promise<readonly Memory[]> {
    const version = await this.getVersion();
    if (version === '') return NO_MEMORIES;
    const known = this.#read;
    if (known?.version === version) return known.memories;
    const read = { version, memories: this.#parse() };
    this.#read = read;
    // A failed read is not cached, so the next call tries again.
    read.memories.catch(() => {
      if (this.#read === read) this.#read = undefined;
    });
    return read.memories;
  }

  async #parse(): Promise<readonly Memory[]> {
    const memories: Memory[] = [];
    const slicer = new TimeSlicer();
    for (const block of iterateBlocks((await this.#workspace.read(this.path)) ?? '')) {
      if (block.kind === 'memory') memories.push({ id: toMemoryId(block.memory.text), ...block.memory });
      await slicer.after(PARSE_COST);
    }
    return memories;
  }
}

/** Cost of parsing a memory, in scanned characters. */
const PARSE_COST = 200;
const NO_MEMORIES: readonly Memory[] = [];

/** Truncates to the minute, as written in the file. */
function toMinute(at: number): number {
  if (!(at >= FIRST_TIME && at < END_OF_TIME))
    throw new RangeError(`Invalid time ${at}. It must be in milliseconds since 1970, up to the year 9999.`);
  return Math.floor(at / 60_000) * 60_000;
}

const getMemoryBlocks = (file: string): MemoryItemBlock[] => parseMemories(file).flatMap((block) => (block.kind === 'memory' ? block : []));

const appendLine = (file: string, line: string): string => (file === '' || file.endsWith('\n') ? file + line : `${file}\n${line}`);

function validateText(text: string): string {
  if (typeof text !== 'string') throw new TypeError('The text of a memory must be a string.');
  const clean = text.replaceAll(/\r\n|[\r\u2028\u2029]/g, '\n').trim();
  if (normalizeSpacing(clean) === '') throw new Error('The text of a memory must not be empty.');
  if (clean.length > MAX_TEXT_CHARS)
    throw new Error(`The text has ${clean.length} characters. The maximum for a memory is ${MAX_TEXT_CHARS}.`);
  return clean;
}

function validateKey(name: string): string {
  if (typeof name !== 'string') throw new TypeError('The key of a preference must be a string.');
  const key = name.trim();
  if (key === '' || key.length > MAX_KEY_CHARS || /[:\n\r\u2028\u2029]/.test(key))
    throw new Error(`The key of a preference must be a single line of 1 to ${MAX_KEY_CHARS} characters without a colon.`);
  return key;
}

/** Name and value of a preference such as `tone: friendly`; undefined if the memory is not one. */
export function parsePreference({ text, category }: Pick<MemoryLine, 'text' | 'category'>): { key: string; value: string } | undefined {
  if (category !== MemoryCategory.PREFERENCE) return undefined;
  const { key, value } = /^(?<key>[^:\n]{1,200}):\s*(?<value>[^]+)$/.exec(text)?.groups ?? {};
  return key === undefined || value === undefined ? undefined : { key: key.trim(), value };
}
