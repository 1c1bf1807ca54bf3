import { shapesToText } from '#shared/canvas/clipboard.ts';
import { LIMITS } from '#shared/canvas/shape-fields.ts';
import type { Studio } from '#canvas/studio.ts';
import type { Problem } from '#kit/problems.ts';
import { m } from '#app/i18n/messages.ts';
import { toasts } from '#kit/toasts.svelte.ts';
import { isExcalidrawFile, readExcalidrawShapes } from './excalidraw-files.ts';
import { isDrawingFile, mergeProblems, toFileProblem } from './new-drawing.svelte.ts';
import { PictureError, readPicture } from './read-picture.ts';

/** Adds pictures and Excalidraw files to an open drawing. Returns what went wrong, with the names of the files. */
export async function addFiles(studio: Studio, files: readonly File[]): Promise<Problem | null> {
  const problems: Problem[] = [];
  for (const file of files) {
    try {
      if (isExcalidrawFile(file)) await addExcalidraw(studio, file);
      else if (isDrawingFile(file)) throw new PictureError(m.annotate_drawing_file({ name: file.name }));
      else await addPicture(studio, file);
    } catch (error) {
      problems.push(toFileProblem(error, m.annotate_doing_add()));
    }
  }
  return mergeProblems(problems);
}

async function addPicture(studio: Studio, file: File): Promise<void> {
  const { src, width, height, note } = await readPicture(file, file.name);
  studio.addImage(src, width, height);
  if (note) toasts.show(note, { sticky: true });
}

/** Adds the shapes of an Excalidraw file in the middle of what is visible. */
async function addExcalidraw(studio: Studio, file: File): Promise<void> {
  const { shapes, notice } = await readExcalidrawShapes(file);
  if (studio.drawing.shapes.length + shapes.length > LIMITS.shapes) throw new PictureError(m.annotate_said_no_room());
  studio.paste(shapesToText(shapes), studio.view.center);
  if (notice !== '') toasts.show(notice, { sticky: true });
}
