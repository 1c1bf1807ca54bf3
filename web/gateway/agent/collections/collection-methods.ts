import { allowsScope } from '#shared/rpc/contract.ts';
import { collectionContracts } from '#shared/rpc/methods/collection-contracts.ts';
import type { CollectionSourceInput } from '#shared/rpc/collection-source.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Caller } from '../../system/caller.ts';
import { defineMethods } from '../../system/methods.ts';
import type { Lazy } from '../../system/modules.ts';
import type { RunsDeps } from '../runs/run-types.ts';
import { requirePerson } from '../../system/person.ts';
import type { Collections } from './collections.ts';

interface RestrictedSettings {
  sources?: readonly CollectionSourceInput[] | undefined;
  embeddingModel?: string | null | undefined;
}

/** Throws `AUTH_REQUIRED` if the caller may not add these sources, or set this model. */
function requireRights(caller: Pick<Caller, 'principal' | 'scopes'>, { sources = [], embeddingModel = null }: RestrictedSettings): void {
  // It costs money outside the limits of a key, and sends the texts to a provider.
  if (embeddingModel !== null) requirePerson(caller, 'choose an embedding model');
  if (sources.some(({ kind }) => kind !== 'web')) requirePerson(caller, 'add folders, repositories and mail archives');
  if (sources.some(({ kind }) => kind === 'web') && !allowsScope(caller.scopes, 'web'))
    throw new RpcError('AUTH_REQUIRED', 'Web pages require the scope "web".');
}

interface CollectionMethodsDeps {
  collections: Lazy<Collections>;
  runDeps: Pick<RunsDeps, 'keySources'>;
}

export const collectionMethods = defineMethods(collectionContracts)(({ collections, runDeps }: CollectionMethodsDeps) => ({
  'collections.list': async () => {
    const list = await (await collections.load()).list();
    return { collections: list, count: list.length };
  },
  'collections.get': async ({ collectionId }) => ({ collection: await (await collections.load()).get(collectionId) }),
  'collections.create': async (settings, caller) => {
    requireRights(caller, settings);
    const isUnreviewed = (await runDeps.keySources(caller.principal)).length > 0;
    return { collection: await (await collections.load()).create({ ...settings, ...(isUnreviewed ? { isUnreviewed } : {}) }) };
  },
  'collections.update': async ({ collectionId, ...change }, caller) => {
    requireRights(caller, change);
    const { name, description, sources, keepOriginals, embeddingModel } = change;
    const isNamed = name !== undefined || description !== undefined;
    const settings = {
      ...(name === undefined ? {} : { name }),
      ...(description === undefined ? {} : { description }),
      ...(sources === undefined ? {} : { sources }),
      ...(keepOriginals === undefined ? {} : { keepOriginals }),
      ...(embeddingModel === undefined ? {} : { embeddingModel }),
      ...(isNamed ? { isUnreviewed: (await runDeps.keySources(caller.principal)).length > 0 } : {}),
    };
    return { collection: await (await collections.load()).update(collectionId, settings) };
  },
  'collections.delete': async ({ collectionId }) => {
    await (await collections.load()).delete(collectionId);
    return { deleted: true };
  },
  'collections.documents': async ({ collectionId, cursor, ...filter }) => {
    const { next, ...page } = await (await collections.load()).listDocuments(collectionId, { ...filter, offset: Number(cursor ?? 0) });
    return { ...page, cursor: next === null ? null : String(next) };
  },
  'collections.folders': async ({ path }, caller) => {
    requirePerson(caller, 'list folders of the bridge’s disk');
    return (await collections.load()).listFolders(path, caller.signal);
  },
  'collections.addFiles': async ({ collectionId, files }) => ({
    documents: await (await collections.load()).addFiles(collectionId, files),
  }),
  'collections.removeDocuments': async ({ collectionId, documentIds }) => ({
    removed: await (await collections.load()).removeDocuments(collectionId, documentIds),
  }),
  'collections.refresh': async ({ collectionId, ...options }) => ({
    collection: await (await collections.load()).refresh(collectionId, options),
  }),
  'collections.cancel': async ({ collectionId }) => ({ collection: await (await collections.load()).cancel(collectionId) }),
  'collections.search': async ({ query, collectionIds, limit }, { signal }) => {
    const loaded = await collections.load();
    return loaded.search(query, collectionIds ?? loaded.ids, limit, signal);
  },
  'collections.read': async ({ documentId, ...options }) => {
    const { passages, ...read } = await (await collections.load()).read(documentId, options);
    return { ...read, passages: passages.map(({ number, locator }) => ({ number, locator })) };
  },
  'collections.original': async ({ documentId, offset }, { signal }) => (await collections.load()).readOriginal(documentId, offset, signal),
}));
