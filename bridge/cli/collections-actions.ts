import { readFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { GatewayClient } from '#shared/client/client.ts';
import type { Collection } from '#shared/rpc/methods/collection-contracts.ts';
import type { CollectionSourceInput } from '#shared/rpc/collection-source.ts';
import { CommandError } from './command-error.ts';
import { escapeControls, escapeToOneLine, formatTable, printJson, printLine, printNote } from './terminal-output.ts';
import { withGateway, type WithGatewayOptions } from './with-gateway.ts';

const CLIENT_NAME = 'perch collections';

/** `perch collections list`. */
export const listCollections = (options: WithGatewayOptions): Promise<void> =>
  withGateway(CLIENT_NAME, options, async (client) => {
    const { collections, count } = await client.call('collections.list', {});
    if (options.json) return printJson({ collections, count });
    if (count === 0) return printLine('No collections.');
    const lines = formatTable(
      [
        { title: 'ID', style: () => 'cyan' },
        { title: 'Documents', align: 'right' },
        { title: 'Failed', align: 'right' },
        { title: 'State' },
        { title: 'Name', isFlexible: true },
      ],
      collections.map(({ id, documentCount, failedCount, state, progress, name }) => [
        ...[id, String(documentCount), String(failedCount)],
        progress === null ? state : `${state} ${progress.done}/${progress.total}`,
        escapeToOneLine(name),
      ]),
    );
    for (const line of lines) printLine(line);
  });

interface CreateOptions extends WithGatewayOptions {
  folder?: readonly string[];
  web?: readonly string[];
  repository?: readonly string[];
}

/** `perch collections create <name>`. */
export const createCollection = (name: string, { folder = [], web = [], repository = [], ...options }: CreateOptions): Promise<void> =>
  withGateway(CLIENT_NAME, options, async (client) => {
    const sources: CollectionSourceInput[] = [
      ...folder.map((path) => ({ kind: 'folder' as const, path: resolve(path) })),
      ...repository.map((url) => ({ kind: 'repository' as const, url })),
      ...(web.length > 0 ? [{ kind: 'web' as const, urls: [...web] }] : []),
    ];
    const { collection } = await client.call('collections.create', { name, sources });
    if (options.json) return printJson({ collection });
    printLine(collection.id);
    if (sources.length > 0) printNote('Indexing has started. `perch collections list` shows its progress.');
  });

/** `perch collections add <collection> <file…>`. */
export const addFiles = (which: string, paths: readonly string[], options: WithGatewayOptions): Promise<void> =>
  withGateway(CLIENT_NAME, options, async (client) => {
    const { id, name } = await findCollection(client, which);
    for (const path of paths) {
      const data = await readFile(path).catch((cause: unknown) => {
        throw new CommandError(`${path} can’t be read.`, 1, { cause });
      });
      await client.call('collections.addFiles', { collectionId: id, files: [{ path: basename(path), data: data.toString('base64') }] });
    }
    if (options.json) return printJson({ collectionId: id, added: paths.length });
    printLine(`Added ${paths.length === 1 ? '1 file' : `${paths.length} files`} to ${escapeToOneLine(name)}.`);
  });

/** `perch collections search <query>`. */
export const searchCollections = (
  query: string,
  { collection, limit, ...options }: WithGatewayOptions & { collection?: string; limit: number },
): Promise<void> =>
  withGateway(CLIENT_NAME, options, async (client) => {
    const collectionIds = collection === undefined ? undefined : [(await findCollection(client, collection)).id];
    const found = await client.call('collections.search', { query, limit, ...(collectionIds ? { collectionIds } : {}) });
    if (options.json) return printJson(found);
    if (found.passages.length === 0) return printLine('Nothing found.');
    for (const { collectionName, path, locator, text } of found.passages) {
      const place = locator.page === undefined ? (locator.line === undefined ? '' : `:${locator.line}`) : `, page ${locator.page}`;
      printLine(`${escapeToOneLine(`${collectionName}: ${path}`)}${place}`);
      printLine(`${escapeControls(text.trim()).replace(/^/gm, '    ')}\n`);
    }
    if (found.incomplete) printNote('Some documents are not indexed yet.');
  });

/** `perch collections remove <collection>`. */
export const removeCollection = (which: string, options: WithGatewayOptions): Promise<void> =>
  withGateway(CLIENT_NAME, options, async (client) => {
    const { id, name } = await findCollection(client, which);
    await client.call('collections.delete', { collectionId: id });
    if (options.json) return printJson({ id, deleted: true });
    printLine(`Removed ${escapeToOneLine(name)}.`);
  });

/** Finds a collection by ID or name. Throws `CommandError` if none or several match. */
async function findCollection(client: GatewayClient, which: string): Promise<Collection> {
  const { collections } = await client.call('collections.list', {});
  const found = collections.filter(({ id, name }) => id === which || name === which);
  const [collection] = found;
  if (!collection) throw new CommandError(`No collection "${which}". \`perch collections list\` lists them.`);
  if (found.length > 1) throw new CommandError(`Several collections are named "${which}". Use an ID.`);
  return collection;
}
