import { ByteBudget, type SelectedFile, MAX_IMPORT_BYTES, type ImportFile, isZip, openZip, readText } from '../import-files.ts';
import { type ImportErrorCode, ImportError } from '../import-error.ts';
import { logseq } from './logseq-notes.ts';
import { markdown } from './markdown-notes.ts';
import { type NoteFormat, type NotePicture, type Notes, type NoteSource } from './note-files.ts';
import { notion } from './notion-notes.ts';

/** Formats of notes, tried in this order. */
const NOTE_FORMATS: readonly NoteFormat[] = [logseq, notion, markdown];

const PICTURE_EXTENSION = /\.(png|jpe?g|gif|webp|avif)$/i;
/** Maximum size of a page (`wiki.savePage`) and of a picture (`workspace.write`). */
export const MAX_PAGE_BYTES = 7 * 1024 * 1024;
export const MAX_PICTURE_BYTES = 8 * 1024 * 1024;

export interface NotesReading extends Notes {
  product: string;
  /** Claims as JSON Lines. */
  claims: NoteSource[];
  rejected: { path: string; why: ImportErrorCode | 'pageTooLarge' | 'pictureTooLarge' | 'twice' }[];
}

/** Reads notes from chosen files, folders and zip files. Nothing is written. Throws `ImportError` if a zip is damaged or too large. */
export async function readNotes(selected: readonly SelectedFile[]): Promise<NotesReading> {
  const files = await listFiles(selected);
  const rejected: NotesReading['rejected'] = [];
  const leftOut: string[] = [];
  const [sources, claims, tables, pictures]: [NoteSource[], NoteSource[], NoteSource[], NotePicture[]] = [[], [], [], []];
  const budget = new ByteBudget(MAX_IMPORT_BYTES);
  const read = async (file: ImportFile, target: NoteSource[], path = file.path): Promise<void> => {
    if (file.size > MAX_PAGE_BYTES) return void rejected.push({ path: file.path, why: 'pageTooLarge' });
    try {
      target.push({ path, text: await readText(file, budget) });
    } catch (error) {
      if (!(error instanceof ImportError) || error.refusal === 'innerTooLarge') throw error;
      rejected.push({ path: file.path, why: error.refusal });
    }
  };
  for (const file of files) {
    const { path, size } = file;
    if (path.split('/').some((name) => name.startsWith('.'))) leftOut.push(path);
    else if (/\.(md|markdown)$/i.test(path)) await read(file, sources, path.replace(/\.(md|markdown)$/i, '.md'));
    else if (/\.(jsonl|ndjson)$/i.test(path)) await read(file, claims);
    else if (/\.csv$/i.test(path)) await read(file, tables);
    else if (!PICTURE_EXTENSION.test(path)) leftOut.push(path);
    else if (size > MAX_PICTURE_BYTES) rejected.push({ path, why: 'pictureTooLarge' });
    else pictures.push({ path, file });
  }
  const paths = files.map(({ path }) => path);
  const format = NOTE_FORMATS.find(({ detect }) => detect(paths)) ?? markdown;
  const notes = format.convert(sources, pictures, tables);
  const seenPaths = new Set<string>();
  const pages = notes.pages
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .filter(({ path }) => {
      const isNew = !seenPaths.has(path.toLowerCase());
      seenPaths.add(path.toLowerCase());
      if (!isNew) rejected.push({ path, why: 'twice' });
      return isNew;
    });
  const product = format === markdown && paths.some((path) => /(^|\/)\.obsidian\//.test(path)) ? 'Obsidian' : format.product;
  return { product, pages, pictures: notes.pictures, claims, rejected, leftOut: [...leftOut, ...notes.leftOut] };
}

async function listFiles(selected: readonly SelectedFile[]): Promise<ImportFile[]> {
  const files: ImportFile[] = [];
  for (const { path, blob } of selected) {
    if (/\.zip$/i.test(path) && (await isZip(blob))) files.push(...stripTopFolder(await openZip(blob)));
    else if (/\.zip$/i.test(path)) throw new ImportError('brokenZip');
    else files.push({ path, size: blob.size, isStandalone: !path.includes('/'), stream: () => blob.stream() });
  }
  return files.flatMap((file) => {
    const names = file.path
      .normalize('NFC')
      .split('/')
      .filter((name) => name !== '' && name !== '.');
    return names.includes('..') ? [] : [{ ...file, path: names.join('/') }];
  });
}

/** Folders of a program, never the common folder of all notes. */
const APP_FOLDERS = new Set(['pages', 'journals', 'assets', 'logseq', '.obsidian']);

/** Removes the single top folder that a zip usually has from the paths. */
function stripTopFolder(files: readonly ImportFile[]): ImportFile[] {
  const [first] = files;
  const top = first?.path.split('/', 1)[0] ?? '';
  const hasTop = first !== undefined && !APP_FOLDERS.has(top) && files.every(({ path }) => path.startsWith(`${top}/`));
  return hasTop ? files.map((file) => ({ ...file, path: file.path.slice(top.length + 1) })) : [...files];
}
