import { type DBSchema, openDB } from 'idb';

/** A credential as a page keeps it: its key cannot be exported. */
export interface KeptCredential {
  id: string;
  key: CryptoKey;
}

export interface KeptLink {
  app: KeptCredential;
  host: KeptCredential;
}

interface LinkSchema extends DBSchema {
  link: { key: 'link'; value: KeptLink };
}

const open = () => openDB<LinkSchema>('perch-link', 1, { upgrade: (db) => void db.createObjectStore('link') });

/** This browser's link to the bridge, if it has one. */
export async function readLink(): Promise<KeptLink | undefined> {
  const db = await open();
  try {
    return await db.get('link', 'link');
  } finally {
    db.close();
  }
}

/** Keeps a link, or forgets it (null). */
export async function writeLink(link: KeptLink | null): Promise<void> {
  const db = await open();
  try {
    if (link) await db.put('link', link, 'link');
    else await db.delete('link', 'link');
  } finally {
    db.close();
  }
}
