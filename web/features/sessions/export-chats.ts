import type { SessionEntry } from '#shared/rpc/record-schemas.ts';
import { type ChatFormat, exportChat } from '#app/state/export-chat.ts';

/** Exports chats as a file: one directly, several in a zip under unique names. */
export async function exportChats(chats: readonly SessionEntry[], format: ChatFormat): Promise<File> {
  const [first] = chats;
  if (first && chats.length === 1) return exportChat(first, format);
  const { BlobReader, BlobWriter, configure, ZipWriter } = await import('@zip.js/zip.js/index-native.js');
  configure({ useWebWorkers: false });
  const zip = new ZipWriter(new BlobWriter('application/zip'));
  const names = new Set<string>();
  for (const chat of chats) {
    const file = await exportChat(chat, format);
    const dot = file.name.lastIndexOf('.');
    let name = file.name;
    for (let nth = 2; names.has(name.toLowerCase()); nth++) name = `${file.name.slice(0, dot)} (${nth})${file.name.slice(dot)}`;
    names.add(name.toLowerCase());
    await zip.add(name, new BlobReader(file), { lastModDate: new Date(chat.updatedAt) });
  }
  return new File([await zip.close()], `chats-${new Date().toISOString().slice(0, 10)}.zip`, { type: 'application/zip' });
}
