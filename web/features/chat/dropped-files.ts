/** The dropped or pasted files, including those within folders. Call it during the event: the browser releases the data afterwards. */
export async function readDroppedFiles({ items, files }: DataTransfer): Promise<File[]> {
  const plain = [...files];
  const entries = [...items].map((item) => item.webkitGetAsEntry());
  return entries.some((entry) => entry?.isDirectory) ? (await import('./collect-files.ts')).collectFiles(entries, plain) : plain;
}

/** The files of a drop, including those within folders. */
export const readDroppedItems = async (entries: readonly FileSystemEntry[]): Promise<File[]> =>
  (await import('./collect-files.ts')).collectFiles(entries, []);
