import { kept } from './kept.ts';
import { pageDb, type PickedFile } from './page-db.ts';

/** Unsent text by chat, kept across reloads. `key` is `<agentId>/<sessionId>`, or `new`. */
export const drafts = {
  text: (key: string): string => kept.read(`draft.${key}`) ?? '',

  /** Whether it could be kept. */
  keepText: (key: string, text: string): boolean => kept.write(`draft.${key}`, text === '' ? null : text),

  async files(key: string): Promise<PickedFile[]> {
    return (await (await pageDb()).get('draftFiles', key)) ?? [];
  },

  async keepFiles(key: string, files: PickedFile[]): Promise<void> {
    const db = await pageDb();
    if (files.length === 0) await db.delete('draftFiles', key);
    else await db.put('draftFiles', files, key);
  },

  async forget(key: string): Promise<void> {
    drafts.keepText(key, '');
    await drafts.keepFiles(key, []);
  },
};
