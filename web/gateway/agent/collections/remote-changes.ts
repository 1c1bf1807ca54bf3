import type { CollectionRecord } from '../../storage/records/collection-records.ts';
import type { RemoteChange, Vault } from '../../storage/vault-interface.ts';
import type { CollectionDocuments } from './collection-documents.ts';
import type { CollectionIndexes } from './collection-indexes.ts';

interface RemoteChangesDeps {
  vault: Pick<Vault, 'collection'>;
  /** Records in memory by ID, which are brought up to date. */
  records: Map<string, CollectionRecord>;
  documents: CollectionDocuments;
  indexes: CollectionIndexes;
  /** Ends the work on a collection that another host has deleted. */
  end(id: string): Promise<void>;
  fault(error: unknown): unknown;
}

/** Brings records, documents and indexes in memory up to date after changes of another host. Returns the collections that it touched. */
export async function applyRemoteChanges(
  { vault, records, documents, indexes, end, fault }: RemoteChangesDeps,
  changes: readonly RemoteChange[],
): Promise<{ changed: string[]; deleted: string[] }> {
  const deleted: string[] = [];
  const touched = new Set<string>();
  for (const { key } of changes.filter(({ store }) => store === 'collections')) {
    const record = await vault.collection('collections').get(key);
    if (record) records.set(key, record);
    else if (records.delete(key)) {
      await end(key);
      deleted.push(key);
      continue;
    }
    touched.add(key);
  }
  const documentChanges = changes.filter(({ store }) => store === 'collectionDocuments');
  for (const { collectionId, removedTextId } of await documents.applyRemote(documentChanges)) {
    if (removedTextId !== undefined) indexes.remove(collectionId, removedTextId);
    touched.add(collectionId);
  }
  for (const { key } of changes.filter(({ store }) => store === 'collectionTexts')) touched.add(key.slice(0, key.indexOf('-')));
  const changed = [...touched].filter((id) => records.has(id));
  for (const id of changed) if (indexes.isOpen(id)) indexes.catchUp(id).catch((error: unknown) => void fault(error));
  return { changed, deleted };
}
