import { mkdir, mkdtemp, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { foldersPort, type FolderKind, type SourceEntry } from '#shared/ports/folders-port.ts';
import type { ContractParams } from '#shared/rpc/contract.ts';
import { NO_KEEPER } from '../../processes/process-keeper.ts';
import { createFoldersHandlers } from './folders-handlers.ts';

type Calls = typeof foldersPort.calls;
export type FolderEvent = { root: string; paths?: string[] | undefined };

/** A temporary folder with a home of Perch and a folder of documents in it. */
export async function createTestFolders(): Promise<{ base: string; home: string; root: string }> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'perch-folders-')));
  const [home, root] = [join(base, 'home'), join(base, 'docs')];
  await mkdir(home);
  await mkdir(root);
  return { base, home, root };
}

/** Returns a function that calls the handlers as a host does. */
export function createTestHandlers(home: string, options: Partial<Parameters<typeof createFoldersHandlers>[0]> = {}) {
  const handlers = createFoldersHandlers({ home, ownFolder: home, keeper: NO_KEEPER, ...options });
  const never = new AbortController().signal;
  const call = async <N extends keyof Calls & string>(
    name: N,
    params: ContractParams<Calls[N]>,
    { signal = never, onEvent = () => {} }: { signal?: AbortSignal; onEvent?: (event: FolderEvent) => void } = {},
  ) =>
    handlers[name](foldersPort.calls[name].params.parse(params) as never, {
      signal,
      send: (event, payload) => event === 'folders.changed' && onEvent(payload as FolderEvent),
    }) as ReturnType<(typeof handlers)[N]>;
  return call;
}

export type TestHandlers = ReturnType<typeof createTestHandlers>;

/** Writes files below a folder; contents are the paths unless given. */
export async function writeFiles(folder: string, files: Record<string, string> | readonly string[]): Promise<void> {
  const entries = Array.isArray(files) ? files.map((path: string): [string, string] => [path, path]) : Object.entries(files);
  for (const [path, content] of entries) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

interface ScanOptions {
  kind?: FolderKind;
  limit?: number;
  include?: string[];
  exclude?: string[];
}

/** All entries of a root, page by page. */
export async function scanRoot(
  call: TestHandlers,
  root: string,
  { kind = 'folder', limit = 2000, ...more }: ScanOptions = {},
): Promise<{ entries: SourceEntry[]; pages: number; skipped: number; problems: string[] }> {
  const result = { entries: [] as SourceEntry[], pages: 0, skipped: 0, problems: [] as string[] };
  let cursor: string | undefined;
  do {
    const page = await call('folders.scan', { root, kind, limit, ...more, ...(cursor === undefined ? {} : { cursor }) });
    result.entries.push(...page.entries);
    result.pages++;
    result.skipped += page.skipped;
    result.problems.push(...page.problems.map(({ path }) => path));
    cursor = page.next;
  } while (cursor !== undefined);
  return result;
}
