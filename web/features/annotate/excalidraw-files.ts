import type { Drawing } from '#shared/canvas/drawing.ts';
import type { Shape } from '#shared/canvas/shape-fields.ts';
import { m } from '#app/i18n/messages.ts';
import { decodeImages } from '../../paint/decode-images.ts';
import { measureText } from '../../paint/measure-text.ts';
import { PictureError } from './read-picture.ts';

/** Whether a file is one of Excalidraw's, by its name. */
export const isExcalidrawFile = ({ name }: File): boolean => /\.excalidraw$/i.test(name);

/** Sentences about elements that could not be converted exactly; empty if all could. */
export function formatConversion({ simplified, leftOut = 0 }: { simplified: number; leftOut?: number }): string {
  const sentences = [
    simplified > 0 && m.annotate_simplified({ count: simplified }),
    leftOut > 0 && m.annotate_left_out({ count: leftOut }),
  ];
  return sentences.filter((sentence) => sentence !== false).join(' ');
}

/** Reads a `.excalidraw` file as a new drawing. Rejects with a PictureError that names it. `notice`: what could not be read exactly. */
export const readExcalidrawDrawing = (file: File): Promise<{ drawing: Drawing; notice: string }> =>
  withFileName(file, async (text) => {
    const { drawingFromExcalidraw } = await import('#shared/canvas/excalidraw/excalidraw-import.ts');
    const { drawing, ...counts } = drawingFromExcalidraw(text, { measure: measureText });
    await requireReadablePictures(file, drawing.shapes);
    return { drawing, notice: formatConversion(counts) };
  });

/** Reads the shapes of a `.excalidraw` file, to add them to a drawing. */
export const readExcalidrawShapes = (file: File): Promise<{ shapes: readonly Shape[]; notice: string }> =>
  withFileName(file, async (text) => {
    const { shapesFromExcalidraw } = await import('#shared/canvas/excalidraw/excalidraw-import.ts');
    const { shapes, ...counts } = shapesFromExcalidraw(text, measureText);
    if (shapes.length === 0) throw new PictureError(m.annotate_file_empty({ name: file.name }));
    await requireReadablePictures(file, shapes);
    return { shapes, notice: formatConversion(counts) };
  });

/** A reason within a sentence that has its own period. */
export const withoutPeriod = (reason: string): string => reason.replace(/\.$/, '');

/** Names the file in errors of the format. */
async function withFileName<T>(file: File, read: (text: string) => Promise<T>): Promise<T> {
  try {
    return await read(await file.text());
  } catch (error) {
    if (error instanceof Error && error.name === 'ExcalidrawFileError')
      throw new PictureError(m.annotate_file_problem({ name: file.name, why: withoutPeriod(error.message) }));
    throw error;
  }
}

async function requireReadablePictures({ name }: File, shapes: readonly Shape[]): Promise<void> {
  try {
    for (const bitmap of (await decodeImages(shapes)).values()) bitmap.close();
  } catch {
    throw new PictureError(m.annotate_file_broken_picture({ name }));
  }
}
