/** The dropped or pasted files, including those within folders. Call it during the event: the browser releases the data afterwards. */
export async function droppedFiles({ items, files }: DataTransfer): Promise<File[]> {
  const plain = [...files];
  const entries = [...items].map((item) => item.webkitGetAsEntry());
  return entries.some((entry) => entry?.isDirectory) ? (await import('./files-in.ts')).filesIn(entries, plain) : plain;
}
