import { z } from '#shared/rpc/zod.ts';
import { sha256 } from '#shared/sha256.ts';
import { StringColumn } from './string-column.ts';

type Column = Uint8Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

/** Layout: SHA-256 in hex, the length of the header, then the header as JSON. */
const DIGEST_BYTES = 64;
const HEADER_START = DIGEST_BYTES + 4;
/** Columns start at multiples of this, so that typed arrays can be views of the bytes. */
const ALIGNMENT = 8;

const CONSTRUCTORS = {
  u8: (buffer: ArrayBuffer, offset: number, length: number) => new Uint8Array(buffer, offset, length),
  i32: (buffer: ArrayBuffer, offset: number, length: number) => new Int32Array(buffer, offset, length),
  u32: (buffer: ArrayBuffer, offset: number, length: number) => new Uint32Array(buffer, offset, length),
  f64: (buffer: ArrayBuffer, offset: number, length: number) => new Float64Array(buffer, offset, length),
};

const header = z.object({
  about: z.string(),
  columns: z.array(z.tuple([z.string(), z.enum(['u8', 'i32', 'u32', 'f64']), z.number()])),
});

/** Named columns of numbers, bytes and strings that serialize to bytes and are restored without copying. */
export class Columns {
  readonly #columns = new Map<string, Column>();

  set(name: string, column: Column): void {
    this.#columns.set(name, column);
  }

  setStrings(name: string, { bytes, ends }: { bytes: Uint8Array<ArrayBuffer>; ends: Uint32Array<ArrayBuffer> }): void {
    this.set(`${name}/bytes`, bytes);
    this.set(`${name}/ends`, ends);
  }

  u8(name: string): Uint8Array<ArrayBuffer> {
    const column = this.#columns.get(name);
    if (column instanceof Uint8Array) return column;
    throw new Error(`No byte column "${name}".`);
  }

  i32(name: string): Int32Array<ArrayBuffer> {
    const column = this.#columns.get(name);
    if (column instanceof Int32Array) return column;
    throw new Error(`No integer column "${name}".`);
  }

  u32(name: string): Uint32Array<ArrayBuffer> {
    const column = this.#columns.get(name);
    if (column instanceof Uint32Array) return column;
    throw new Error(`No unsigned integer column "${name}".`);
  }

  f64(name: string): Float64Array<ArrayBuffer> {
    const column = this.#columns.get(name);
    if (column instanceof Float64Array) return column;
    throw new Error(`No number column "${name}".`);
  }

  strings(name: string): StringColumn {
    return new StringColumn(this.u8(`${name}/bytes`), this.u32(`${name}/ends`));
  }

  /** Serializes the columns with a checksum. `about` identifies what they depend on. */
  async toBytes(description: string): Promise<Uint8Array<ArrayBuffer>> {
    const columns = [...this.#columns].map(([name, column]) => [name, getKind(column), column.length]);
    const head = new TextEncoder().encode(JSON.stringify({ about: description, columns }));
    let end = align(HEADER_START + head.length);
    const layout = [...this.#columns.values()].map((column) => {
      const offset = end;
      end = align(offset + column.byteLength);
      return { at: offset, column };
    });
    const bytes = new Uint8Array(end);
    new DataView(bytes.buffer).setUint32(DIGEST_BYTES, head.length, true);
    bytes.set(head, HEADER_START);
    for (const { at: offset, column } of layout) bytes.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), offset);
    bytes.set(new TextEncoder().encode(await sha256(bytes.subarray(DIGEST_BYTES))));
    return bytes;
  }

  /** Undefined if the bytes are damaged or were written for another `about`. */
  static async fromBytes(input: Uint8Array<ArrayBuffer>, description: string): Promise<Columns | undefined> {
    if (
      input.length < HEADER_START ||
      (await sha256(input.subarray(DIGEST_BYTES))) !== new TextDecoder().decode(input.subarray(0, DIGEST_BYTES))
    )
      return undefined;
    const bytes = input.byteOffset % ALIGNMENT === 0 ? input : input.slice();
    const { buffer, byteOffset } = bytes;
    const length = new DataView(buffer, byteOffset).getUint32(DIGEST_BYTES, true);
    const head = header.parse(JSON.parse(new TextDecoder().decode(bytes.subarray(HEADER_START, HEADER_START + length))));
    if (head.about !== description) return undefined;
    const columns = new Columns();
    let offset = align(HEADER_START + length);
    for (const [name, kind, count] of head.columns) {
      const column = CONSTRUCTORS[kind](buffer, byteOffset + offset, count);
      columns.set(name, column);
      offset = align(offset + column.byteLength);
    }
    return columns;
  }
}

const align = (offset: number): number => Math.ceil(offset / ALIGNMENT) * ALIGNMENT;

const getKind = (column: Column): keyof typeof CONSTRUCTORS =>
  column instanceof Uint8Array ? 'u8' : column instanceof Int32Array ? 'i32' : column instanceof Uint32Array ? 'u32' : 'f64';
