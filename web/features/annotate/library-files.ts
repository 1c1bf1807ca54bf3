import type { LibraryItem } from '#shared/canvas/shape-library.ts';
import { m } from '#app/i18n/messages.ts';
import { measureText } from '../../paint/measure-text.ts';
import { formatConversion, withoutPeriod } from './excalidraw-files.ts';

/** Reads a `.excalidrawlib` file. Rejects with an Error that names the file. `notice`: what could not be read exactly. */
export async function readLibraryFile(file: File): Promise<{ items: Omit<LibraryItem, 'id'>[]; notice: string }> {
  const { parseExcalidrawLibrary } = await import('#shared/canvas/excalidraw/excalidraw-library.ts');
  try {
    const { items, ...counts } = parseExcalidrawLibrary(await file.text(), measureText);
    return { items: items.map((item) => ({ ...item, name: item.name || m.annotate_item_unnamed() })), notice: formatConversion(counts) };
  } catch (error) {
    if (error instanceof Error && error.name === 'ExcalidrawFileError')
      throw new Error(m.annotate_file_problem({ name: file.name, why: withoutPeriod(error.message) }), { cause: error });
    throw error;
  }
}

/** Writes items as a `.excalidrawlib` file. */
export async function createLibraryFile(items: readonly LibraryItem[]): Promise<File> {
  const { toExcalidrawLibrary } = await import('#shared/canvas/excalidraw/excalidraw-library.ts');
  return new File([toExcalidrawLibrary(items, measureText)], 'perch.excalidrawlib', { type: 'application/json' });
}
