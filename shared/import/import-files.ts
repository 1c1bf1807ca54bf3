import type { FileEntry, ZipReader } from '@zip.js/zip.js';
import { ImportError } from './import-error.ts';

/** Maximum number of bytes of text that one import reads. */
export const MAX_IMPORT_BYTES = 500 * 1024 * 1024;
/** Maximum number of files that are read. */
const MAX_FILES = 100_000;
const ZIP_SIGNATURE = [0x50, 0x4b, 0x03, 0x04];

/** A file that a person chose, with its path if it was in a folder. */
export interface SelectedFile {
  path: string;
  blob: Blob;
}

/** A chosen file, or one within a chosen zip file. */
export interface ImportFile {
  path: string;
  /** Bytes. For a file in a zip, the size that the zip claims, which may be wrong. */
  size: number;
  /** Whether it was chosen directly, not within a folder or a zip. */
  isStandalone: boolean;
  stream(): ReadableStream<Uint8Array>;
}

/** Counts the bytes that are read, so that a zip cannot claim less than it contains. */
export class ByteBudget {
  #remaining: number;
  constructor(bytes: number) {
    this.#remaining = bytes;
  }

  /** Throws `innerTooLarge` once more was read than allowed. */
  consume(bytes: number): void {
    this.#remaining -= bytes;
    if (this.#remaining < 0) throw new ImportError('innerTooLarge');
  }
}

/** The files of a zip; a zip within it is opened as well, as Notion has them. Throws `brokenZip`. */
export async function openZip(blob: Blob, isNested = false): Promise<ImportFile[]> {
  const { BlobReader, configure, ZipReader } = await import('@zip.js/zip.js/index-native.js');
  configure({ useWebWorkers: false });
  const zip = new ZipReader(new BlobReader(blob));
  const entries = await listEntries(zip);
  const files: ImportFile[] = [];
  for (const entry of entries) {
    const file = { path: entry.filename, size: entry.uncompressedSize, isStandalone: false, stream: () => streamEntry(entry) };
    if (!isNested && /\.zip$/i.test(entry.filename)) files.push(...(await openZip(await readBlob(file), true)));
    else files.push(file);
  }
  return files;
}

async function listEntries(zip: ZipReader<Blob>): Promise<FileEntry[]> {
  try {
    const entries = (await zip.getEntries()).filter((entry) => !entry.directory);
    if (entries.length > MAX_FILES) throw new ImportError('innerTooLarge');
    // Skips metadata that macOS adds.
    return entries.filter(({ filename }) => !/(^|\/)(__MACOSX\/|\._|\.DS_Store$)/.test(filename));
  } catch (error) {
    if (error instanceof ImportError) throw error;
    throw new ImportError('brokenZip', { cause: error });
  }
}

export async function isZip(blob: Blob): Promise<boolean> {
  const head = new Uint8Array(await blob.slice(0, ZIP_SIGNATURE.length).arrayBuffer());
  return ZIP_SIGNATURE.every((byte, at) => head[at] === byte);
}

/** The bytes of a zip's entry as they are unpacked; waits for its reader. */
function streamEntry(entry: FileEntry): ReadableStream<Uint8Array> {
  const stop = new AbortController();
  let resume: (() => void) | undefined;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const sink = new WritableStream<Uint8Array>({
        write(part) {
          controller.enqueue(part);
          if ((controller.desiredSize ?? 0) <= 0) return new Promise<void>((resolve) => (resume = resolve));
        },
      });
      entry.getData(sink, { signal: stop.signal, checkSignature: true }).then(
        () => {
          if (!stop.signal.aborted) controller.close();
        },
        (error: unknown) => {
          if (!stop.signal.aborted) controller.error(new ImportError('damaged', { cause: error }));
        },
      );
    },
    pull: () => resume?.(),
    cancel() {
      stop.abort();
      resume?.();
    },
  });
}

/** A stream that counts against a budget. */
export const limitStream = (bytes: ReadableStream<Uint8Array>, budget: ByteBudget): ReadableStream<Uint8Array> =>
  bytes.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(part, controller) {
        budget.consume(part.byteLength);
        controller.enqueue(part);
      },
    }),
  );

/** A whole file of up to `limit` bytes. */
export async function readBlob(file: ImportFile, limit = MAX_IMPORT_BYTES): Promise<Blob> {
  if (file.size > limit) throw new ImportError('innerTooLarge');
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const reader = limitStream(file.stream(), new ByteBudget(limit)).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(parts);
    parts.push(value as Uint8Array<ArrayBuffer>);
  }
}

/** A whole file as text in UTF-8. */
export async function readText(file: ImportFile, budget: ByteBudget): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const reader = limitStream(file.stream(), budget).getReader();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      text += decoder.decode(value, { stream: true });
    }
  } catch (error) {
    if (error instanceof TypeError) throw new ImportError('notUtf8');
    throw error;
  }
}

/** The last name of a path. */
export const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
