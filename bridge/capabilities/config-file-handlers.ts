import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { applyEdits, type JSONPath, modify, parse, printParseErrorCode, visit, type Node, parseTree } from 'jsonc-parser';
import type { configFilePort } from '#shared/ports/config-file-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { Mutex } from '#shared/async/mutex.ts';
import { getErrorCode, readFileIfExists, describeError, writeFileAtomically } from '../home-directory.ts';
import type { PortHandlers } from './serve-port.ts';

interface PathStep {
  at: Node;
  value: Node | undefined;
  rest: string | undefined;
}

type Document = Record<string, unknown>;

const FORMAT_OPTIONS = { formattingOptions: { insertSpaces: true, tabSize: 2, eol: '\n' } };
const MAX_BYTES = 4 * 1024 * 1024;
/** Maximum nesting depth of braces and brackets. */
const MAX_DEPTH = 100;
/** Byte order mark, written by Windows editors. */
const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Handlers for the user's configuration file, `config.json` in the bridge's home; comments and trailing commas are allowed. The last synced
 * document is in a separate file. Operations on the two are serialized, so that a host does not mistake another one's write for a user's
 * edit.
 */
export function createConfigFileHandlers(home: string): PortHandlers<typeof configFilePort.calls, typeof configFilePort.events> {
  const path = join(home, 'config.json');
  const syncedPath = join(home, 'config.synced.json');
  /** New contents of the configuration file while it is being written, until that is recorded. */
  const writingPath = join(home, 'config.writing.json');
  const mutex = new Mutex();

  /**
   * Returns the document that file and gateway last agreed on. `document`: the file's contents; if a write of it was interrupted before it
   * was recorded, the gateway agrees with it too.
   */
  const readSynced = async (document: Document | null): Promise<Document | null> => {
    if (document && isDeepStrictEqual(await readOwnDocument(writingPath), document)) return document;
    // A damaged one counts as missing: the file then wins wherever the two differ.
    return readOwnDocument(syncedPath);
  };

  const write = async (
    document: Document,
    base: string | null,
    lost: Document | undefined,
  ): Promise<{ written: boolean; hash: string | null }> => {
    const text = await readConfigText(path);
    if (toHash(text) !== base) return { written: false, hash: toHash(text) };
    const read = text === undefined ? { document: {} } : parseDocument(text);
    if (!('document' in read)) throw new RpcError('INTERNAL_ERROR', `${path} is no longer valid JSON`);
    if (lost) {
      const at = new Date().toISOString().replaceAll(':', '');
      await writeFileAtomically(join(home, `config.lost-${at}.json`), toPrettyJson(lost), rename);
    }
    const mark = text?.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
    const next = mark + applyDocumentChanges(text?.slice(mark.length) ?? '{}\n', read.document, document);
    if (next !== text) {
      await writeFileAtomically(writingPath, toPrettyJson(document), rename);
      // Keeps a symbolic link and replaces its target.
      await writeFileAtomically(await realpath(path).catch(() => path), next, rename);
    }
    await writeFileAtomically(syncedPath, toPrettyJson(document), rename);
    await rm(writingPath, { force: true });
    return { written: true, hash: toHash(next) };
  };

  return {
    'config-file.read': ({ known }) =>
      mutex.run(async () => {
        let text: string | undefined;
        try {
          text = await readConfigText(path);
        } catch (error) {
          return { state: 'broken', path, hash: null, message: describeError(error) };
        }
        const hash = toHash(text);
        if (known === hash) return { state: 'same' };
        if (text === undefined) return { state: 'read', path, hash, document: null, synced: await readSynced(null) };
        const read = parseDocument(text);
        if (!('document' in read)) return { state: 'broken', path, hash, ...read };
        return { state: 'read', path, hash, document: read.document, synced: await readSynced(read.document) };
      }),

    'config-file.place': ({ hash, key }) =>
      mutex.run(async () => {
        const text = await readConfigText(path).catch(() => undefined);
        return text === undefined || toHash(text) !== hash
          ? null
          : findPosition(text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text, key);
      }),

    'config-file.write': ({ document, base, lost }) =>
      mutex
        .run(() => write(document, base, lost))
        .catch((error: unknown) => {
          if (error instanceof RpcError) throw error;
          const reason = getErrorCode(error) === 'ENOSPC' ? 'the disk is full' : describeError(error);
          throw new RpcError('INTERNAL_ERROR', `Couldn’t write to ${dirname(path)}: ${reason}`, {}, { cause: error });
        }),
  };
}

const toHash = (text: string | undefined): string | null => (text === undefined ? null : createHash('sha256').update(text).digest('hex'));
const toPrettyJson = (document: Document): string => `${JSON.stringify(document, null, 2)}\n`;

/** Reads the file; undefined if it is missing. Rejects with the reason if it is too large or not text. */
async function readConfigText(path: string): Promise<string | undefined> {
  // Non-blocking, since opening a FIFO without a writer would hang.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch((error: unknown) => {
    if (getErrorCode(error) === 'ENOENT') return undefined;
    throw new Error(`it can’t be read: ${describeError(error)}`, { cause: error });
  });
  if (!file) return undefined;
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new Error('it is not a regular file');
    if (stats.size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
    const bytes = await file.readFile();
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch (error) {
      // Otherwise invalid bytes could not be written back.
      throw new Error('it is not UTF-8. Save it as UTF-8', { cause: error });
    }
  } finally {
    await file.close();
  }
}

/** Reads a document from one of the bridge's own files; null if that is missing or unreadable. */
async function readOwnDocument(path: string): Promise<Document | null> {
  const text = await readFileIfExists(path).catch(() => undefined);
  const read = text === undefined ? undefined : parseDocument(text);
  return read && 'document' in read ? read.document : null;
}

interface JsonFault {
  message: string;
  line?: number;
  column?: number;
}

class JsonFaultError extends Error {
  readonly fault: JsonFault;

  constructor(message: string, line: number, column: number) {
    super(message);
    this.fault = { message, line: line + 1, column: column + 1 };
  }
}

/** Parses a document, or returns the error with its position. */
function parseDocument(raw: string): { document: Document } | JsonFault {
  const text = raw.startsWith(BYTE_ORDER_MARK) ? raw.slice(BYTE_ORDER_MARK.length) : raw;
  try {
    checkSyntax(text);
  } catch (error) {
    if (error instanceof JsonFaultError) return error.fault;
    throw error;
  }
  const value: unknown = parse(text, [], { allowTrailingComma: true });
  if (!isObject(value)) return { message: 'the settings must be an object in braces', line: 1, column: 1 };
  return { document: value };
}

/** Throws at the first error in a text. */
function checkSyntax(text: string): void {
  /** Names in each open brace; an empty set for brackets. */
  const nameSets: Set<string>[] = [];
  const begin = (_offset: number, _length: number, line: number, column: number): void => {
    if (nameSets.push(new Set()) > MAX_DEPTH) throw new JsonFaultError(`more than ${MAX_DEPTH} levels deep`, line, column);
  };
  const end = (): void => void nameSets.pop();
  const options = { allowTrailingComma: true };
  const visitor = {
    onObjectBegin: begin,
    onObjectEnd: end,
    onArrayBegin: begin,
    onArrayEnd: end,
    onObjectProperty(name: string, _offset: number, _length: number, line: number, column: number) {
      // For duplicates, parsers use the last one, while edits would change the first one.
      if (nameSets.at(-1)?.has(name)) throw new JsonFaultError(`duplicate name ${JSON.stringify(name)}`, line, column);
      nameSets.at(-1)?.add(name);
    },
    onError(error: number, _offset: number, _length: number, line: number, column: number) {
      const reason = printParseErrorCode(error).replace(/(?<=[a-z])(?=[A-Z])/g, ' ');
      throw new JsonFaultError(reason.toLowerCase(), line, column);
    },
  };
  visit(text, visitor, options);
}

/** Returns the text with the differences between two documents applied, and otherwise unchanged. */
function applyDocumentChanges(text: string, before: Document, after: Document, path: JSONPath = []): string {
  let next = text;
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [getOwnValue(before, name), getOwnValue(after, name)];
    if (isDeepStrictEqual(was, is)) continue;
    if (isObject(was) && isObject(is)) next = applyDocumentChanges(next, was, is, [...path, name]);
    else next = applyEdits(next, modify(next, [...path, name], is, FORMAT_OPTIONS));
  }
  return next;
}

const getOwnValue = (document: Document, name: string): unknown => (Object.hasOwn(document, name) ? document[name] : undefined);
const isObject = (value: unknown): value is Document => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Finds a setting in a JSON text by its dotted path, or the innermost part of the path that exists. Line and column from 1; null if nothing
 * is found.
 */
function findPosition(text: string, key: string): { line: number; column: number } | null {
  let node = parseTree(text, [], { allowTrailingComma: true });
  let found: Node | undefined;
  for (let rest: string | undefined = key; rest !== undefined && node;) {
    const next: PathStep | undefined = findStep(node, rest);
    if (!next) break;
    ({ at: found, value: node, rest } = next);
  }
  if (!found) return null;
  const before = text.slice(0, found.offset).split(/\r\n|\r|\n/);
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** Finds the property that continues the path. Names may contain dots themselves. */
function findStep(node: Node, path: string): PathStep | undefined {
  const parts = (node.children ?? []).map((child, index): { name: string; at: Node; value: Node | undefined } => {
    if (node.type === 'array') return { name: String(index), at: child, value: child };
    const [name, value] = child.children ?? [];
    return { name: String(name?.value), at: child, value };
  });
  const fitting = parts.filter(({ name }) => path === name || path.startsWith(`${name}.`));
  const [longest] = fitting.sort((a, b) => b.name.length - a.name.length);
  return longest && { at: longest.at, value: longest.value, rest: path === longest.name ? undefined : path.slice(longest.name.length + 1) };
}
