import { configure, type FileEntry, Uint8ArrayReader, ZipReader } from '@zip.js/zip.js/index-native.js';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { TimeSlicer } from '#shared/async/time-slicer.ts';
import { createUnreadableError } from './document-reader.ts';
import { createTreeBuilder, type XmlElement } from './xml-tree.ts';
import { type XmlHandlers, XmlReader } from './xml-reader.ts';

configure({ useWebWorkers: false });

/** Limits against zip bombs: a real package of 16 MB stays far below. */
const MAX_ENTRIES = 10_000;
const MAX_UNPACKED_BYTES = 128 * 1024 * 1024;
/** Maximum size of a part that is parsed to a tree, in bytes. */
const MAX_TREE_BYTES = 32 * 1024 * 1024;
/** Maximum number of elements and attributes in all trees: each takes some 200 bytes of memory, but as few as four in its part. */
const MAX_NODES = 2_000_000;

/** The parts of a DOCX, XLSX or PPTX file. */
export class OfficePackage {
  readonly #name: string;
  readonly #entries: ReadonlyMap<string, FileEntry>;
  readonly #signal: AbortSignal;
  /** Remaining number of bytes that may be unpacked. */
  #bytesLeft = MAX_UNPACKED_BYTES;
  #nodesLeft = MAX_NODES;

  private constructor(name: string, entries: ReadonlyMap<string, FileEntry>, signal: AbortSignal) {
    this.#name = name;
    this.#entries = entries;
    this.#signal = signal;
  }

  /** Throws an error with a message for people if the file is encrypted, of the old format, damaged or excessive. */
  static async open(name: string, bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<OfficePackage> {
    if (isCompound(bytes)) throw createUnreadableError(name, describeCompound(bytes));
    const entries = new Map<string, FileEntry>();
    try {
      for await (const entry of new ZipReader(new Uint8ArrayReader(bytes)).getEntriesGenerator()) {
        if (entries.size >= MAX_ENTRIES) throw createUnreadableError(name, `can’t be read: it has more than ${MAX_ENTRIES} parts`);
        if (!entry.directory) entries.set(entry.filename.replaceAll('\\', '/').toLowerCase(), entry);
      }
    } catch (error) {
      throw toReadError(name, error, signal);
    }
    return new OfficePackage(name, entries, signal);
  }

  has(path: string): boolean {
    return this.#entries.has(path.toLowerCase());
  }

  /** Streams an XML part to handlers; does nothing if there is no such part. */
  async read(path: string, handlers: XmlHandlers, maxBytes = MAX_UNPACKED_BYTES): Promise<void> {
    await this.#stream(path, new XmlReader(handlers), maxBytes);
  }

  /** The bytes of a part; undefined if there is no such part. */
  async readBytes(path: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    if (!this.has(path)) return undefined;
    const chunks: BlobPart[] = [];
    await this.#stream(path, { write: (bytes) => void chunks.push(new Uint8Array(bytes)), end: () => {} }, MAX_TREE_BYTES);
    return new Blob(chunks).bytes();
  }

  /** Passes the unpacked bytes of a part on; does nothing if there is no such part. */
  async #stream(path: string, reader: Pick<XmlReader, 'write' | 'end'>, maxBytes: number): Promise<void> {
    const entry = this.#entries.get(path.toLowerCase());
    if (!entry) return;
    if (entry.encrypted) throw createUnreadableError(this.#name, 'is protected by a password. Remove the password and try again');
    // Headers may be wrong: the unpacked bytes are counted too.
    if (entry.uncompressedSize > maxBytes) throw this.#createSizeError();
    const slicer = new TimeSlicer(this.#signal);
    let handlerError: unknown;
    let size = 0;
    const sink = new WritableStream<Uint8Array>({
      write: async (bytes) => {
        try {
          size += bytes.length;
          this.#bytesLeft -= bytes.length;
          if (this.#bytesLeft < 0 || size > maxBytes) throw this.#createSizeError();
          reader.write(bytes);
          await slicer.after(bytes.length);
        } catch (error) {
          handlerError = error;
          throw error;
        }
      },
    });
    try {
      await entry.getData(sink, { checkSignature: true, signal: this.#signal });
      reader.end();
    } catch (error) {
      if (handlerError === undefined || !(handlerError instanceof StopReading))
        throw toReadError(this.#name, handlerError ?? error, this.#signal);
    }
  }

  /** An XML part as a tree; undefined if there is no such part. */
  async readTree(path: string): Promise<XmlElement | undefined> {
    if (!this.has(path)) return undefined;
    const { handlers, root } = createTreeBuilder((nodes) => {
      this.#nodesLeft -= nodes;
      if (this.#nodesLeft < 0) throw this.#createSizeError();
    });
    await this.read(path, handlers, MAX_TREE_BYTES);
    return root();
  }

  #createSizeError(): RpcError {
    return createUnreadableError(this.#name, 'can’t be read: it unpacks to far more data than expected');
  }

  /** Relationships of a part by id; internal targets as paths from the package's root, external ones unchanged. */
  async readRelations(path: string): Promise<Map<string, { type: string; target: string }>> {
    const slash = path.lastIndexOf('/') + 1;
    const relations = new Map<string, { type: string; target: string }>();
    await this.read(`${path.slice(0, slash)}_rels/${path.slice(slash)}.rels`, {
      open(name, attributes) {
        const { Id: id, Type: type = '', Target: target = '', TargetMode: mode } = attributes;
        if (name !== 'Relationship' || id === undefined) return;
        // The last segment of the type is the same in both editions of the standard.
        const kind = type.slice(type.lastIndexOf('/') + 1);
        relations.set(id, { type: kind, target: mode === 'External' ? target : resolvePath(path, target) });
      },
    });
    return relations;
  }

  /** The main part: the document, workbook or presentation. `name`: name of its root element. */
  async readMain(defaultPath: string, name: string): Promise<{ path: string; root: XmlElement }> {
    const relation = [...(await this.readRelations('')).values()].find(({ type }) => type === 'officeDocument');
    const path = relation?.target ?? defaultPath;
    const root = await this.readTree(path);
    if (root?.name !== name) throw createUnreadableError(this.#name, `is not a file of this type: it has no ${defaultPath}`);
    return { path, root };
  }
}

/** Thrown by a handler to stop reading a part. */
export class StopReading extends Error {}

function resolvePath(from: string, target: string): string {
  return decodeURI(new URL(target, `file:///${from}`).pathname).slice(1);
}

/** Signature of compound files: the Office format until 2007, and the container of password-protected files. */
const COMPOUND_SIGNATURE = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];
const isCompound = (bytes: Uint8Array): boolean => COMPOUND_SIGNATURE.every((byte, index) => bytes[index] === byte);

function describeCompound(bytes: Uint8Array): string {
  const text = new TextDecoder('utf-16le').decode(bytes.subarray(0, bytes.length & ~1));
  return text.includes('EncryptedPackage')
    ? 'is protected by a password. Remove the password and try again'
    : 'is in the old Office format (.doc, .xls, .ppt), which is not supported. Save it as .docx, .xlsx or .pptx';
}

function toReadError(name: string, error: unknown, signal: AbortSignal): unknown {
  signal.throwIfAborted();
  if (error instanceof RpcError) return error;
  return createUnreadableError(
    name,
    `can’t be read: it is damaged or incomplete (${error instanceof Error ? error.message : String(error)})`,
  );
}
