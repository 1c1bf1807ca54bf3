import { goto } from '$app/navigation';
import { drawingFromJson } from '#shared/canvas/file.ts';
import { fileNameOf } from '#shared/file-name.ts';
import { seenOr } from '#shared/seen.ts';
import { type Problem, problemOf } from '#lib/errors.ts';
import { m } from '#lib/i18n/pages.ts';
import { toasts } from '#lib/state/toasts.svelte.ts';
import { drawings } from './drawings.svelte.ts';
import { PictureError, readPicture } from './read-picture.ts';

/** The address of a drawing. */
export const drawingHref = (id: string): string => `/annotate/${id}`;

/** A file that was saved as JSON. */
export const isDrawingFile = ({ name, type }: File): boolean => type === 'application/json' || name.endsWith('.json');

/** Makes drawings of what comes: pictures, files, an empty sheet. */
export class NewDrawing {
  problem = $state<Problem | null>(null);
  /** How many are being made. */
  working = $state(0);

  readonly fromPicture = (picture: Blob, name: string): Promise<void> => this.#make([() => this.#ofPicture(picture, name)]);

  /** Creates a drawing from each file and opens the last one. Invalid files are reported by name; the others are still created. */
  readonly fromFiles = (files: readonly File[]): Promise<void> =>
    this.#make(files.map((file) => async () => (isDrawingFile(file) ? this.#ofJson(file) : this.#ofPicture(file, file.name))));

  readonly blank = (): Promise<void> => this.#make([() => drawings.create(m.annotate_untitled())]);

  async #make(makers: readonly (() => Promise<string>)[]): Promise<void> {
    this.problem = null;
    this.working += makers.length;
    let last: string | undefined;
    const problems: Problem[] = [];
    for (const make of makers) {
      try {
        last = await make();
      } catch (error) {
        problems.push(told(error, m.annotate_doing_make()));
      } finally {
        this.working--;
      }
    }
    this.problem = joined(problems);
    if (last !== undefined && problems.length === 0) await goto(drawingHref(last));
  }

  async #ofPicture(picture: Blob, name: string): Promise<string> {
    const read = await readPicture(picture, name);
    const id = await drawings.create(titleOf(name), read);
    if (read.note) toasts.show(read.note, { sticky: true });
    return id;
  }

  async #ofJson(file: File): Promise<string> {
    try {
      return await drawings.createFrom(titleOf(file.name), drawingFromJson(await file.text()));
    } catch (error) {
      if (error instanceof Error && error.name === 'DrawingFileError')
        throw new PictureError(m.annotate_file_problem({ name: file.name, why: error.message }));
      throw error;
    }
  }
}

/** A problem with a file is already a sentence that names the file. */
export const told = (error: unknown, doing: string): Problem =>
  error instanceof PictureError ? { message: error.message, code: null } : problemOf(error, doing);

export function joined(problems: readonly Problem[]): Problem | null {
  const [first] = problems;
  if (!first || problems.length === 1) return first ?? null;
  return { message: problems.map(({ message }) => message).join(' '), code: null };
}

/** A file’s name without its ending. */
const titleOf = (name: string): string =>
  seenOr(
    fileNameOf(name)
      .replace(/(\.perch-drawing)?\.[A-Za-z0-9]{2,5}$/, '')
      .slice(0, 200),
    m.annotate_untitled(),
  );
