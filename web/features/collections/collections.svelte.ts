import type { MethodParams } from '#shared/rpc/methods/index.ts';
import type { Collection } from '#shared/rpc/methods/collection-contracts.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';

type CollectionFields = Omit<MethodParams<'collections.update'>, 'collectionId'>;

/** The collections of the vault, by name. */
class Collections {
  /** Null before the first answer. */
  list = $state.raw<readonly Collection[] | null>(null);
  problem = $state.raw<Problem | null>(null);
  #loadCount = 0;
  #watchers = 0;
  #stopListening = (): void => {};

  /** Loads the collections, and follows their changes. Returns a function that stops it. */
  watch(): () => void {
    void this.load();
    if (this.#watchers++ === 0) this.#stopListening = this.#listen();
    return () => {
      if (--this.#watchers === 0) this.#stopListening();
    };
  }

  async load(): Promise<void> {
    const loadId = ++this.#loadCount;
    try {
      const { collections } = await gateway.call('collections.list', {});
      if (loadId !== this.#loadCount) return;
      this.list = collections;
      this.problem = null;
    } catch (error) {
      if (loadId === this.#loadCount && !isConnectionLost(error)) this.problem = toProblem(error, m.collections_doing_list());
    }
  }

  find(id: string): Collection | undefined {
    return this.list?.find((collection) => collection.id === id);
  }

  /** Rejects if the gateway refuses, like the other methods. */
  async create(name: string): Promise<Collection> {
    const knownIds = new Set(this.list?.map(({ id }) => id));
    const request = async (): Promise<Collection> => (await gateway.call('collections.create', { name })).collection;
    let collection: Collection;
    try {
      collection = await request();
    } catch (error) {
      if (!isConnectionLost(error)) throw error;
      // The gateway may have created it before the connection was lost.
      await this.load();
      collection = this.list?.find((each) => each.name === name && !knownIds.has(each.id)) ?? (await request());
    }
    this.#set(collection.id, collection);
    return collection;
  }

  async update(collectionId: string, fields: CollectionFields): Promise<void> {
    this.#set(collectionId, (await gateway.call('collections.update', { collectionId, ...fields })).collection);
  }

  async refresh(collectionId: string, sourceId?: string): Promise<void> {
    const source = sourceId === undefined ? {} : { sourceId };
    this.#set(collectionId, (await gateway.call('collections.refresh', { collectionId, ...source })).collection);
  }

  async cancel(collectionId: string): Promise<void> {
    this.#set(collectionId, (await gateway.call('collections.cancel', { collectionId })).collection);
  }

  async delete(collectionId: string): Promise<void> {
    await gateway.call('collections.delete', { collectionId });
    this.#set(collectionId, null);
  }

  #listen(): () => void {
    const stopChanges = gateway.on('collection.changed', ({ collectionId, deleted }) => {
      if (deleted) this.#set(collectionId, null);
      else void this.#reload(collectionId);
    });
    const stopProgress = gateway.on('collection.progress', ({ collectionId, ...progress }) => {
      const collection = this.find(collectionId);
      if (collection) this.#set(collectionId, { ...collection, ...progress });
    });
    return () => {
      stopChanges();
      stopProgress();
    };
  }

  /** Reads one collection again. A failure leaves it as it was: the next change reads it again. */
  async #reload(collectionId: string): Promise<void> {
    try {
      this.#set(collectionId, (await gateway.call('collections.get', { collectionId })).collection);
    } catch (error) {
      if (!isConnectionLost(error)) await this.load();
    }
  }

  /** Replaces, adds or removes a collection in the list. */
  #set(id: string, collection: Collection | null): void {
    const others = (this.list ?? []).filter((each) => each.id !== id);
    this.list = collection ? [...others, collection].sort((a, b) => a.name.localeCompare(b.name)) : others;
  }
}

export const collections = new Collections();
