import { createHash } from 'node:crypto';
import { realpath, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { applyEdits, type JSONPath, modify, parse, type ParseError, printParseErrorCode } from 'jsonc-parser';
import type { configFilePort } from '#shared/ports/config-file.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { codeOf, readIfThere, reasonOf, writeWhole } from '../home.ts';
import type { PortHandlers } from '../server/serve-port.ts';

type Document = Record<string, unknown>;

const FORMAT = { formattingOptions: { insertSpaces: true, tabSize: 2, eol: '\n' } };
const MAX_CHARS = 4 * 1024 * 1024;

/** The user's configuration file, `config.json` in the bridge's home; comments and trailing commas are taken. */
export function configFileHandlers(home: string): PortHandlers<typeof configFilePort.calls, typeof configFilePort.events> {
  const path = join(home, 'config.json');
  const syncedPath = join(home, 'config.synced.json');
  let tail: Promise<unknown> = Promise.resolve();

  /** What file and gateway agreed on last. */
  const readSynced = async (): Promise<Document | null> => {
    const text = await readIfThere(syncedPath).catch(() => undefined);
    if (text === undefined) return null;
    const read = readDocument(text);
    // One that is damaged says nothing: the file then wins wherever the two differ.
    return 'document' in read ? read.document : null;
  };

  const write = async (
    document: Document,
    base: string | null,
    lost: Document | undefined,
  ): Promise<{ written: boolean; hash: string | null }> => {
    const text = await readIfThere(path);
    if (hashOf(text) !== base) return { written: false, hash: hashOf(text) };
    const read = text === undefined ? { document: {} } : readDocument(text);
    if (!('document' in read)) throw new RpcError('INTERNAL_ERROR', `${path} is no JSON any more`);
    if (lost) {
      const at = new Date().toISOString().replaceAll(':', '');
      await writeWhole(join(home, `config.lost-${at}.json`), pretty(lost), rename);
    }
    const next = edited(text ?? '{}\n', read.document, document);
    // A link stays one: what it leads to is replaced.
    if (next !== text) await writeWhole(await realpath(path).catch(() => path), next, rename);
    await writeWhole(syncedPath, pretty(document), rename);
    return { written: true, hash: hashOf(next) };
  };

  return {
    'config-file.read': async ({ known }) => {
      let text: string | undefined;
      try {
        text = await readIfThere(path);
      } catch (error) {
        return { state: 'broken', path, hash: null, message: reasonOf(error) };
      }
      const hash = hashOf(text);
      if (known === hash) return { state: 'same' };
      if (text === undefined) return { state: 'read', path, hash, document: null, synced: await readSynced() };
      const read = readDocument(text);
      if (!('document' in read)) return { state: 'broken', path, hash, ...read };
      return { state: 'read', path, hash, document: read.document, synced: await readSynced() };
    },

    'config-file.write': ({ document, base, lost }) => {
      const done = tail.then(() => write(document, base, lost));
      tail = done.catch(() => {});
      return done.catch((error: unknown) => {
        if (error instanceof RpcError) throw error;
        const why = codeOf(error) === 'ENOSPC' ? 'the disk is full' : reasonOf(error);
        throw new RpcError('INTERNAL_ERROR', `${dirname(path)} cannot be written: ${why}`, {}, { cause: error });
      });
    },
  };
}

const hashOf = (text: string | undefined): string | null => (text === undefined ? null : createHash('sha256').update(text).digest('hex'));
const pretty = (document: Document): string => `${JSON.stringify(document, null, 2)}\n`;

/** The document of a text, or what is wrong with it and where. */
function readDocument(text: string): { document: Document } | { message: string; line?: number; column?: number } {
  if (text.length > MAX_CHARS) return { message: `it has more than ${MAX_CHARS} characters` };
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error) {
    const before = text.slice(0, error.offset).split('\n');
    const message = printParseErrorCode(error.error)
      .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
      .toLowerCase();
    return { message, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  }
  if (!isObject(value)) return { message: 'the configuration is an object, in braces', line: 1, column: 1 };
  return { document: value };
}

/** The text with what differs between two documents changed, and nothing else. */
function edited(text: string, before: Document, after: Document, path: JSONPath = []): string {
  let next = text;
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [ownOf(before, name), ownOf(after, name)];
    if (isDeepStrictEqual(was, is)) continue;
    if (isObject(was) && isObject(is)) next = edited(next, was, is, [...path, name]);
    else next = applyEdits(next, modify(next, [...path, name], is, FORMAT));
  }
  return next;
}

const ownOf = (document: Document, name: string): unknown => (Object.hasOwn(document, name) ? document[name] : undefined);
const isObject = (value: unknown): value is Document => typeof value === 'object' && value !== null && !Array.isArray(value);
