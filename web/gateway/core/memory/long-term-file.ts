import { RpcError } from '#shared/rpc/errors.ts';
import { sameText } from './content-id.ts';
import { memoryId } from './index/entry.ts';
import { formatMemory, MemoryCategory, type MemoryBlock, type MemoryLine, parseMemories, withBlock, withoutBlock } from './long-term.ts';
import type { Workspace } from './workspace.ts';

/** Maximum length of a memory, in characters. */
const MAX_TEXT = 10_000;
const MAX_KEY = 200;
/** Years have four digits in the file. */
const [FIRST_TIME, END_OF_TIME] = [Date.parse('0000-01-01T00:00Z'), Date.UTC(10_000, 0)];

/** A line of the long-term file, with an id derived from its text. */
export interface Memory extends MemoryLine {
  id: string;
}

type Remembered = MemoryBlock & { kind: 'memory' };

/**
 * The long-term memory file: memories, and preferences by name. Each change rewrites the whole file once and keeps text that people wrote
 * in between.
 */
export class LongTermFile {
  readonly path: string;
  readonly #workspace: Workspace;
  /** Cache of the last read. */
  #read: { size: number; modifiedAt: number; memories: readonly Memory[] } | undefined;

  constructor(workspace: Workspace, path: string) {
    [this.#workspace, this.path] = [workspace, path];
  }

  /**
   * Adds memories that do not exist yet, in one step. `added` is false for existing ones. Throws an Error for a text that is empty or too
   * long.
   */
  async add(given: readonly MemoryLine[]): Promise<{ memory: Memory; added: boolean }[]> {
    const lines = given.map((line): MemoryLine => ({ ...line, text: checked(line.text), createdAt: toMinute(line.createdAt) }));
    let results: { memory: Memory; added: boolean }[] = [];
    await this.#workspace.update(this.path, (before = '') => {
      let file = before;
      const known = new Map(remembered(file).map((block) => [memoryId(block.memory.text), block.memory]));
      results = lines.map((line) => {
        const id = memoryId(line.text);
        const same = known.get(id);
        if (!same) {
          file = withLine(file, formatMemory(line));
          known.set(id, line);
        }
        return { memory: { id, ...(same ?? line) }, added: !same };
      });
      return file === before ? undefined : file;
    });
    return results;
  }

  /** Returns false if no memory has that id. */
  async forget(id: string): Promise<boolean> {
    let found = false;
    await this.#workspace.update(this.path, (file = '') => {
      const blocks = remembered(file).filter(({ memory }) => memoryId(memory.text) === id);
      found = blocks.length > 0;
      // Last to first, so that earlier line numbers stay valid.
      return found ? blocks.reduceRight(withoutBlock, file) : undefined;
    });
    return found;
  }

  /**
   * Stores a preference and replaces earlier ones of the same name, ignoring case. Throws an Error for a name with a line break or a colon.
   */
  async prefer(name: string, value: string, createdAt: number): Promise<{ memory: Memory; replaced: number; removed: string[] }> {
    const key = nameOf(name);
    const line: MemoryLine = {
      text: checked(`${key}: ${checked(value)}`),
      category: MemoryCategory.PREFERENCE,
      createdAt: toMinute(createdAt),
    };
    let replaced = 0;
    let removed: string[] = [];
    await this.#workspace.update(this.path, (file = '') => {
      const earlier = remembered(file).filter(({ memory }) => preferenceOf(memory)?.key.toLowerCase() === key.toLowerCase());
      const [first, ...others] = earlier;
      replaced = earlier.length;
      removed = earlier.map(({ memory }) => memoryId(memory.text)).filter((id) => id !== memoryId(line.text));
      if (first?.memory.text === line.text && others.length === 0) return undefined;
      const rest = others.reduceRight(withoutBlock, file);
      return first ? withBlock(rest, first, formatMemory(line)) : withLine(file, formatMemory(line));
    });
    return { memory: { id: memoryId(line.text), ...line }, replaced, removed };
  }

  /**
   * Replaces a memory; undefined if no memory has that id. Throws `ALREADY_EXISTS` if another memory has the same text, and an Error for a
   * text that is empty or too long.
   */
  async replace(id: string, change: { text?: string | undefined; category?: MemoryCategory | undefined }): Promise<Memory | undefined> {
    let found: Memory | undefined;
    await this.#workspace.update(this.path, (file = '') => {
      const all = remembered(file);
      const [first, ...others] = all.filter(({ memory }) => memoryId(memory.text) === id);
      if (!first) return undefined;
      const { memory } = first;
      const line: MemoryLine = { ...memory, text: checked(change.text ?? memory.text), category: change.category ?? memory.category };
      found = { id: memoryId(line.text), ...line };
      if (found.id !== id && all.some(({ memory: { text } }) => memoryId(text) === found?.id))
        throw new RpcError('ALREADY_EXISTS', 'Another memory already has this text.');
      return withBlock(others.reduceRight(withoutBlock, file), first, formatMemory(line));
    });
    return found;
  }

  /** Preferences by name, in file order; the later of two with the same name wins. */
  async preferences(): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (const { key, value } of (await this.memories()).flatMap((memory) => preferenceOf(memory) ?? [])) {
      for (const same of found.keys()) if (same.toLowerCase() === key.toLowerCase()) found.delete(same);
      found.set(key, value);
    }
    return found;
  }

  /** Memories in file order. Returns the same array until the file changes. */
  async memories(): Promise<readonly Memory[]> {
    const file = await this.#workspace.stat(this.path);
    if (!file) return NOTHING;
    if (this.#read?.size !== file.size || this.#read.modifiedAt !== file.modifiedAt) {
      const text = (await this.#workspace.read(this.path)) ?? '';
      const memories = remembered(text).map(({ memory }) => ({ id: memoryId(memory.text), ...memory }));
      this.#read = { size: file.size, modifiedAt: file.modifiedAt, memories };
    }
    return this.#read.memories;
  }
}

const NOTHING: readonly Memory[] = [];

/** Truncates to the minute, as written in the file. */
function toMinute(at: number): number {
  if (!(at >= FIRST_TIME && at < END_OF_TIME))
    throw new RangeError(`Invalid time ${at}. It must be in milliseconds since 1970, up to the year 9999.`);
  return Math.floor(at / 60_000) * 60_000;
}

const remembered = (file: string): Remembered[] => parseMemories(file).flatMap((block) => (block.kind === 'memory' ? block : []));

const withLine = (file: string, line: string): string => (file === '' || file.endsWith('\n') ? file + line : `${file}\n${line}`);

function checked(text: string): string {
  if (typeof text !== 'string') throw new TypeError('The text of a memory must be a string.');
  const clean = text.replaceAll(/\r\n|[\r\u2028\u2029]/g, '\n').trim();
  if (sameText(clean) === '') throw new Error('The text of a memory must not be empty.');
  if (clean.length > MAX_TEXT) throw new Error(`The text has ${clean.length} characters. The maximum for a memory is ${MAX_TEXT}.`);
  return clean;
}

function nameOf(name: string): string {
  if (typeof name !== 'string') throw new TypeError('The key of a preference must be a string.');
  const key = name.trim();
  if (key === '' || key.length > MAX_KEY || /[:\n\r\u2028\u2029]/.test(key))
    throw new Error(`The key of a preference must be a single line of 1 to ${MAX_KEY} characters without a colon.`);
  return key;
}

/** Name and value of a preference such as `tone: friendly`; undefined if the memory is not one. */
export function preferenceOf({ text, category }: Pick<MemoryLine, 'text' | 'category'>): { key: string; value: string } | undefined {
  if (category !== MemoryCategory.PREFERENCE) return undefined;
  const { key, value } = /^(?<key>[^:\n]{1,200}):\s*(?<value>[^]+)$/.exec(text)?.groups ?? {};
  return key === undefined || value === undefined ? undefined : { key: key.trim(), value };
}
