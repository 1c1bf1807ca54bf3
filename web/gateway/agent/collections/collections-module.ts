import type { Usage } from '#shared/rpc/record-schemas.ts';
import type { Settings } from '../../config/settings-schema.ts';
import type { DocumentReader } from '../../documents/document-reader.ts';
import { DEFAULT_DATA_URL, withOcr } from '../../documents/ocr.ts';
import type { Providers } from '../../providers/providers.ts';
import type { Log } from '../../system/log/log.ts';
import { defineModule } from '../../system/modules.ts';
import type { CollectionsDeps } from './collections.ts';

type CollectionsNeeds = Omit<CollectionsDeps, 'reader' | 'vectors' | 'allow'> & {
  documents: DocumentReader;
  providers: Pick<Providers, 'resolve'>;
  log: Log;
  settings(): Settings;
};

/** Principal of calls that compute vectors. */
const COLLECTIONS_PRINCIPAL = 'collections';
/** Milliseconds after which what waits, such as for free storage, is tried again. */
const CHECK_MS = 3_600_000;

/** Collections of documents: needed while they are indexed or their folders are watched, and by searches. */
export const collectionsModule = defineModule<CollectionsNeeds>()({
  name: 'collections',
  needs: ['vault', 'hub', 'clock', 'bridge', 'documents', 'providers', 'sync', 'settings', 'isLeaseHolder', 'log', 'fault'],
  async load({ documents, providers, settings, log, ...needs }) {
    const [{ Collections }, { CollectionVectors }, { createProviderEmbedder }] = await Promise.all([
      import('./collections.ts'),
      import('./collection-vectors.ts'),
      import('../knowledge/memory/vectors/provider-embedder.ts'),
    ]);
    const { vault, clock } = needs;
    const onUsage = (call: { provider: string; model: string; usage: Usage }): void => {
      const at = clock.now();
      vault.usage.add({ id: crypto.randomUUID(), at, sessionKey: null, principal: COLLECTIONS_PRINCIPAL, purpose: 'embedding', ...call });
    };
    const vectors = new CollectionVectors({
      store: await vault.documents(),
      createEmbedder: (model) => createProviderEmbedder(model, { providers, onUsage }),
      warn: (message) => log.write('warn', 'collections', message),
    });
    const reader = withOcr(documents, () => {
      const { enabled, dataUrl = DEFAULT_DATA_URL, languages } = settings().documents.ocr;
      return enabled ? { dataUrl, languages } : undefined;
    });
    return Collections.open({ ...needs, reader, vectors, allow: () => settings().tools.webFetch?.allow ?? [] });
  },
  wakeOn: {
    if: async ({ vault }) => {
      const records = await vault.collection('collections').list();
      return records.some(({ pending, sources }) => pending !== null || sources.some(({ kind }) => kind !== 'web'));
    },
    changes: ['collections', 'collectionDocuments', 'collectionTexts'],
    every: CHECK_MS,
  },
  refresh: (collections) => collections.resume({ retriesWaiting: true }),
  onChanges: (collections, changes) => collections.applyRemote(changes),
  drain: (collections) => collections.stop(),
  stop: (collections) => collections.stop(),
});
