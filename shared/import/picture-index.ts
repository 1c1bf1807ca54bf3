import { baseName, type ImportFile, readBlob } from './import-files.ts';

/** Maximum size of one picture. */
const MAX_PICTURE_BYTES = 16 * 1024 * 1024;
const PICTURE_EXTENSION = /\.(png|jpe?g|gif|webp)$/i;
/** Newer exports of ChatGPT name pictures `file-….dat`. */
const ASSET = /^(file[-_][0-9A-Za-z]+)[-_.]/;
const SIGNATURES: readonly (readonly [string, readonly number[], number])[] = [
  ['image/png', [0x89, 0x50, 0x4e, 0x47], 0],
  ['image/jpeg', [0xff, 0xd8, 0xff], 0],
  ['image/gif', [0x47, 0x49, 0x46, 0x38], 0],
  ['image/webp', [0x57, 0x45, 0x42, 0x50], 8],
];

interface Picture {
  mimeType: string;
  filename: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** The pictures of an export, found by the names that its messages use. A picture is read only when a message needs it. */
export class PictureIndex {
  readonly #byName = new Map<string, ImportFile>();
  readonly #byAsset = new Map<string, ImportFile>();

  /** Whether the file is a picture. */
  add(file: ImportFile): boolean {
    const name = baseName(file.path);
    const asset = ASSET.exec(name)?.[1];
    if (!PICTURE_EXTENSION.test(name) && !(asset !== undefined && /\.dat$/i.test(name))) return false;
    if (!this.#byName.has(name)) this.#byName.set(name, file);
    if (asset !== undefined && !this.#byAsset.has(asset)) this.#byAsset.set(asset, file);
    return true;
  }

  /** The picture that a message refers to; undefined if it is missing, damaged, too large or no picture. */
  async read(reference: string): Promise<Picture | undefined> {
    const name = baseName(reference);
    const file = this.#byName.get(name) ?? this.#byAsset.get(ASSET.exec(`${name}.`)?.[1] ?? '');
    if (!file) return undefined;
    try {
      const bytes = new Uint8Array(await (await readBlob(file, MAX_PICTURE_BYTES)).arrayBuffer());
      const mimeType = getPictureType(bytes);
      return mimeType === undefined ? undefined : { mimeType, filename: baseName(file.path), bytes };
    } catch {
      return undefined;
    }
  }
}

/** The media type of a picture by its first bytes; undefined if chats cannot show it. */
export const getPictureType = (bytes: Uint8Array): string | undefined =>
  SIGNATURES.find(([, signature, offset]) => signature.every((byte, at) => bytes[offset + at] === byte))?.[0];
