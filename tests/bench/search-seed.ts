/**
 * Runs in a page of the gateway's origin: fills the vault, which must not be open elsewhere, with sessions `first` to `last`. Resolves with
 * the bytes of their texts.
 */
export async function seedSessions([first, last, messagesEach]: readonly [number, number, number]): Promise<number> {
  // Words with the distribution of a natural language: few are frequent, most are rare.
  const syllables = 'ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu bra cle dri flo gru sta pre tri klo spu'.split(' ');
  const vocabulary = 50_000;
  const toWord = (rank: number): string => {
    let word = '';
    for (let rest = rank + 30; rest > 0; rest = Math.floor(rest / syllables.length)) word += syllables[rest % syllables.length] ?? '';
    return word;
  };
  const words = Array.from({ length: vocabulary }, (_, rank) => toWord(rank));
  const scale = Math.log(vocabulary);
  // The logarithm of the rank is even: Zipf's law.
  const draw = (): string => words[Math.min(vocabulary - 1, Math.floor(Math.exp(Math.random() * scale)) - 1)] ?? '';
  const done = (tx: IDBTransaction): Promise<void> =>
    new Promise((resolve, reject) => {
      tx.oncomplete = () => resolve();
      tx.onabort = () => reject(tx.error ?? new Error('aborted'));
    });
  const db = await new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open('perch');
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('cannot be opened'));
  });
  let bytes = 0;
  const start = Date.now() - 365 * 86_400_000;
  for (let number = first; number < last; number += 20) {
    const tx = db.transaction(['sessions', 'messages', 'local'], 'readwrite', { durability: 'relaxed' });
    tx.objectStore('local').delete('search');
    for (let at = number; at < Math.min(last, number + 20); at++) {
      const key = `main/s${at}`;
      let parentId: string | null = null;
      let timestamp = start + at * 3_000_000;
      for (let depth = 0; depth < messagesEach; depth++) {
        const id = crypto.randomUUID();
        let content = '';
        for (let i = 20 + Math.floor(Math.random() * 50); i > 0; i--) content += `${draw()} `;
        // A word that occurs in exactly one message of a session.
        if (depth === 100) content += `unique${at}`;
        bytes += content.length;
        timestamp += 60_000;
        tx.objectStore('messages').put({
          id,
          sessionKey: key,
          parentId,
          depth,
          role: depth % 2 ? 'assistant' : 'user',
          content,
          timestamp,
        });
        parentId = id;
      }
      const entry = {
        title: `${draw()} ${draw()} ${draw()}`,
        createdAt: timestamp,
        pinned: false,
        archived: at % 10 === 0,
        folder: null,
        tags: [],
      };
      const sums = {
        headId: parentId,
        updatedAt: timestamp,
        messageCount: messagesEach,
        size: messagesEach * 400,
        preview: 'What was said last. '.repeat(8),
      };
      tx.objectStore('sessions').put({ key, agentId: 'main', sessionId: `s${at}`, ...entry, ...sums });
    }
    await done(tx);
  }
  db.close();
  return bytes;
}

/** Also runs in the page: returns the bytes of the index's pages. */
export async function measureIndexBytes(): Promise<number> {
  const db = await new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open('perch');
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('cannot be opened'));
  });
  const bytes = await new Promise<number>((resolve) => {
    let sum = 0;
    const request = db.transaction('searchPages').objectStore('searchPages').openCursor();
    request.onsuccess = () => {
      const cursor = request.result;
      if (!cursor) return resolve(sum);
      const { data } = cursor.value as { data: Uint8Array | string[] };
      sum += data instanceof Uint8Array ? data.length : data.join().length;
      cursor.continue();
    };
  });
  db.close();
  return bytes;
}

/** Also runs in the page: returns whether no merge of the index is in progress. A merge would add pages of an unfinished segment. */
export async function isSettled(): Promise<boolean> {
  const db = await new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open('perch');
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('cannot be opened'));
  });
  const tx = db.transaction(['searchPages', 'searchSegments']);
  const segments = new Promise<IDBValidKey[]>((resolve) => {
    const request = tx.objectStore('searchSegments').getAllKeys();
    request.onsuccess = () => resolve(request.result);
  });
  const written = new Promise<number[]>((resolve) => {
    const found: number[] = [];
    const request = tx.objectStore('searchPages').openKeyCursor();
    request.onsuccess = () => {
      const cursor = request.result;
      if (!cursor) return resolve(found);
      const [segment] = cursor.key as number[];
      if (segment === undefined) return resolve(found);
      found.push(segment);
      cursor.continue([segment, []]);
    };
  });
  const settled = (await segments).join() === (await written).join();
  db.close();
  return settled;
}
