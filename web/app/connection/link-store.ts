import { type DBSchema, openDB } from 'idb';

/** A stored credential; its key cannot be exported. */
export interface StoredCredential {
  id: string;
  key: CryptoKey;
}

export interface StoredLink {
  app: StoredCredential;
  host: StoredCredential;
}

interface LinkSchema extends DBSchema {
  link: { key: 'link'; value: StoredLink };
}

const openDb = () => openDB<LinkSchema>('perch-link', 1, { upgrade: (db) => void db.createObjectStore('link') });

/** This browser's link to the bridge, if it has one. */
export async function readLink(): Promise<StoredLink | undefined> {
  const db = await openDb();
  try {
    return await db.get('link', 'link');
  } finally {
    db.close();
  }
}

/** Stores the link; null deletes it. */
export async function writeLink(link: StoredLink | null): Promise<void> {
  const db = await openDb();
  try {
    if (link) await db.put('link', link, 'link');
    else await db.delete('link', 'link');
  } finally {
    db.close();
  }
}
