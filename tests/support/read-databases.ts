/**
 * All that this origin's databases hold, as one text: keys and values, bytes read as text. Runs in Node with fake-indexeddb and, as it uses nothing from outside
 * itself, in a page.
 */
export async function readDatabasesAsText(): Promise<string> {
  const done = <T>(request: IDBRequest<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error ?? new Error('the database refused'));
    });
  const toBytes = (value: unknown): Uint8Array | undefined =>
    ArrayBuffer.isView(value)
      ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
      : value instanceof ArrayBuffer
        ? new Uint8Array(value)
        : undefined;
  const readable = async (value: unknown): Promise<unknown> => {
    if (value instanceof Blob) return value.text();
    const bytes = toBytes(value);
    if (bytes) return new TextDecoder('latin1').decode(bytes);
    if (Array.isArray(value)) return Promise.all(value.map(readable));
    if (typeof value !== 'object' || value === null) return String(value);
    return Promise.all(Object.entries(value).map(async ([name, each]) => [name, await readable(each)]));
  };
  const texts: string[] = [];
  for (const { name = '' } of await indexedDB.databases()) {
    const db = await done(indexedDB.open(name));
    for (const store of db.objectStoreNames) {
      const rows = db.transaction(store).objectStore(store);
      const [keys, values] = await Promise.all([done(rows.getAllKeys()), done<unknown[]>(rows.getAll())]);
      texts.push(`${name} ${store}\n${JSON.stringify(await readable([keys, values]))}`);
    }
    db.close();
  }
  return texts.join('\n');
}
