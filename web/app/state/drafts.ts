import { safeLocalStorage } from './safe-local-storage.ts';
import { pageDb, type PickedFile } from './page-db.ts';

/** Unsent text and files by chat, kept across reloads. `key` is `<agentId>/<sessionId>`, or `new`. */
export const drafts = {
  text: (key: string): string => safeLocalStorage.read(`draft.${key}`) ?? '',

  /** Stores the text of a draft. Returns false if the browser refuses. */
  storeText: (key: string, text: string): boolean => safeLocalStorage.write(`draft.${key}`, text === '' ? null : text),

  async files(key: string): Promise<PickedFile[]> {
    return (await (await pageDb()).get('draftFiles', key)) ?? [];
  },

  async storeFiles(key: string, files: PickedFile[]): Promise<void> {
    const db = await pageDb();
    if (files.length === 0) await db.delete('draftFiles', key);
    else await db.put('draftFiles', files, key);
  },

  async remove(key: string): Promise<void> {
    drafts.storeText(key, '');
    await drafts.storeFiles(key, []);
  },
};
