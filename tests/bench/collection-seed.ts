const SYLLABLES = 'ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu bra cle dri flo gru sta pre tri klo spu'.split(' ');
const VOCABULARY = 50_000;

/** Draws words of the seed's vocabulary with the distribution of a natural language. The same for the same seed. */
export function createZipfWords(seed: number): () => string {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const rank = Math.min(VOCABULARY - 1, Math.floor(Math.exp((state / 2 ** 32) * Math.log(VOCABULARY))) - 1);
    let word = '';
    for (let rest = rank + 30; rest > 0; rest = Math.floor(rest / SYLLABLES.length)) word += SYLLABLES[rest % SYLLABLES.length] ?? '';
    return word;
  };
}

/**
 * Runs in a page of the gateway's origin: fills a collection in the vault, which must not be open elsewhere, with documents `first` to `last`.
 * Resolves with the characters of their texts.
 */
export async function seedCollection([first, last, passagesEach]: readonly [number, number, number]): Promise<number> {
  // A copy of `createZipfWords`: nothing else of this file exists in the page.
  const syllables = 'ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu bra cle dri flo gru sta pre tri klo spu'.split(' ');
  const vocabulary = 50_000;
  let state = first + 1;
  const random = (): number => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
  const words = Array.from({ length: vocabulary }, (_, rank) => {
    let word = '';
    for (let rest = rank + 30; rest > 0; rest = Math.floor(rest / syllables.length)) word += syllables[rest % syllables.length] ?? '';
    return word;
  });
  const draw = (): string => words[Math.min(vocabulary - 1, Math.floor(Math.exp(random() * Math.log(vocabulary))) - 1)] ?? '';
  const db = await new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open('perch');
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('cannot be opened'));
  });
  const tx = db.transaction(['collections', 'collectionDocuments', 'collectionTexts'], 'readwrite', { durability: 'relaxed' });
  const collection = { id: 'bench', name: 'Bench', description: '', sources: [], keepOriginals: false, embeddingModel: null };
  tx.objectStore('collections').put({ ...collection, createdAt: 1, updatedAt: 1, pending: null });
  let chars = 0;
  for (let number = first; number < last; number++) {
    const id = `bench-${String(number).padStart(6, '0')}`;
    const passages: { locator: { start: number; end: number; headings: string[] } }[] = [];
    let text = '';
    for (let passage = 0; passage < passagesEach; passage++) {
      const start = text.length;
      while (text.length - start < 800) text += draw() + (random() < 0.1 ? '. ' : ' ');
      passages.push({ locator: { start, end: text.length, headings: [`Chapter ${draw()}`] } });
    }
    chars += text.length;
    tx.objectStore('collectionTexts').put({ id: `${id}.t.0000`, start: 0, text, first: 0, passages });
    tx.objectStore('collectionDocuments').put({
      ...{
        id,
        collectionId: 'bench',
        sourceId: 'files',
        path: `${draw()}/${number}.txt`,
        title: `${draw()} ${draw()}`,
        mimeType: 'text/plain',
      },
      ...{ size: text.length, modifiedAt: null, addedAt: 1, status: 'indexed', hash: id },
      text: { id: `${id}.t`, indexedAt: 1, parts: 1, passages: passages.length, length: text.length },
    });
  }
  await new Promise<void>((resolve, reject) => {
    tx.oncomplete = () => resolve();
    tx.onabort = () => reject(tx.error ?? new Error('aborted'));
  });
  db.close();
  return chars;
}

/** Runs in the same page: bytes of the search index of all collections. */
export async function measureCollectionIndex(): Promise<number> {
  const db = await new Promise<IDBDatabase>((resolve) => {
    const request = indexedDB.open('perch');
    request.onsuccess = () => resolve(request.result);
  });
  const rows = await new Promise<{ bytes: Uint8Array }[]>((resolve) => {
    const request = db.transaction('collectionSegments').objectStore('collectionSegments').getAll();
    request.onsuccess = () => resolve(request.result as { bytes: Uint8Array }[]);
  });
  db.close();
  return rows.reduce((sum, { bytes }) => sum + bytes.length, 0);
}
