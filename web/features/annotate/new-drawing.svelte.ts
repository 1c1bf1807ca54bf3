import { goto } from '$app/navigation';
import { drawingFromJson } from '#shared/canvas/drawing-file.ts';
import { toSafeFileName } from '#shared/file-name.ts';
import { toVisibleName } from '#shared/display-name.ts';
import { type Problem, toProblem } from '#kit/problems.ts';
import { m } from '#app/i18n/messages.ts';
import { toasts } from '#kit/toasts.svelte.ts';
import { drawings } from './drawings.svelte.ts';
import { isExcalidrawFile, readExcalidrawDrawing, withoutPeriod } from './excalidraw-files.ts';
import { PictureError, readPicture } from './read-picture.ts';

/** Maximum length of a file's name in the label of its drawing. */
const MAX_SOURCE_CHARS = 100;

/** The address of a drawing. */
export const toDrawingHref = (id: string): string => `/annotate/${id}`;

/** Whether a file is a drawing of Perch saved as JSON. */
export const isDrawingFile = (file: File): boolean =>
  !isExcalidrawFile(file) && (file.type === 'application/json' || file.name.endsWith('.json'));

/** Creates drawings from pictures and files, or blank ones. */
export class NewDrawing {
  problem = $state<Problem | null>(null);
  /** Number of drawings being created. */
  pendingCount = $state(0);

  readonly createFromPicture = (picture: Blob, name: string): Promise<void> =>
    this.#createAll([() => this.#createFromPicture(picture, name)]);

  /** Creates a drawing from each file and opens the last one. Invalid files are reported by name; the others are still created. */
  readonly createFromFiles = (files: readonly File[]): Promise<void> =>
    this.#createAll(
      files.map((file) => async () => {
        if (isExcalidrawFile(file)) return this.#createFromExcalidraw(file);
        return isDrawingFile(file) ? this.#createFromJson(file) : this.#createFromPicture(file, file.name);
      }),
    );

  readonly createBlank = (): Promise<void> => this.#createAll([() => drawings.create(m.annotate_untitled())]);

  async #createAll(makers: readonly (() => Promise<string>)[]): Promise<void> {
    this.problem = null;
    this.pendingCount += makers.length;
    let lastId: string | undefined;
    const problems: Problem[] = [];
    for (const make of makers) {
      try {
        lastId = await make();
      } catch (error) {
        problems.push(toFileProblem(error, m.annotate_doing_make()));
      } finally {
        this.pendingCount--;
      }
    }
    this.problem = mergeProblems(problems);
    if (lastId !== undefined && problems.length === 0) await goto(toDrawingHref(lastId));
  }

  async #createFromPicture(picture: Blob, name: string): Promise<string> {
    const pictureData = await readPicture(picture, name);
    const id = await drawings.create(toTitle(name), pictureData);
    if (pictureData.note) toasts.show(pictureData.note, { sticky: true });
    return id;
  }

  async #createFromExcalidraw(file: File): Promise<string> {
    const { drawing, notice } = await readExcalidrawDrawing(file);
    const id = await drawings.createCopy(toTitle(file.name), drawing, [toSource(file)]);
    if (notice !== '') toasts.show(notice, { sticky: true });
    return id;
  }

  async #createFromJson(file: File): Promise<string> {
    try {
      return await drawings.createCopy(toTitle(file.name), drawingFromJson(await file.text()), [toSource(file)]);
    } catch (error) {
      if (error instanceof Error && error.name === 'DrawingFileError')
        throw new PictureError(m.annotate_file_problem({ name: file.name, why: withoutPeriod(error.message) }));
      throw error;
    }
  }
}

/** Source of a drawing that others may have made. */
const toSource = ({ name }: File): string => `document:${toSafeFileName(name).slice(0, MAX_SOURCE_CHARS)}`;

/** Converts an error; a `PictureError` is already a sentence that names the file. */
export const toFileProblem = (error: unknown, doing: string): Problem =>
  error instanceof PictureError ? { message: error.message, code: null } : toProblem(error, doing);

export function mergeProblems(problems: readonly Problem[]): Problem | null {
  const [first] = problems;
  if (!first || problems.length === 1) return first ?? null;
  return { message: problems.map(({ message }) => message).join(' '), code: null };
}

/** Title of a drawing from a file name, without its extension. */
const toTitle = (name: string): string =>
  toVisibleName(
    toSafeFileName(name)
      .replace(/(\.perch-drawing)?\.[A-Za-z0-9]{2,10}$/, '')
      .slice(0, 200),
    m.annotate_untitled(),
  );
