/** The files of what was dropped or pasted; of a folder those within it. To be called while that happens: the browser forgets it afterwards. */
export async function droppedFiles({ items, files }: DataTransfer): Promise<File[]> {
  const plain = [...files];
  const entries = [...items].map((item) => item.webkitGetAsEntry());
  return entries.some((entry) => entry?.isDirectory) ? (await import('./files-in.ts')).filesIn(entries, plain) : plain;
}
