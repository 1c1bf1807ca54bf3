import type { Drawing } from '#shared/canvas/drawing.ts';
import { Editor } from '#shared/canvas/editor.ts';
import { toBlob, decodeImage } from '../paint/decode-images.ts';
import { toImageDataUrl } from './image-data-url.ts';
import { isSvg, rasterizeSvg, SVG_TYPE } from './svg-image.ts';

/** Source of a picture: a URL (same origin or allowed by CORS), a data URL, a file, or the text of an SVG. */
export type ImageSource = string | URL | Blob;

/** The picture under a drawing, fitted into the sheet. Setting it cannot be undone. */
export class PictureUnderlay {
  readonly #drawing: Drawing;
  #id: string | undefined;
  #ready: Promise<void> = Promise.resolve();

  constructor(drawing: Drawing, source: ImageSource) {
    this.#drawing = drawing;
    // Callers of `ready` or of an export receive the error.
    this.set(source).catch(() => undefined);
  }

  /** Resolves when the picture has loaded. Rejects with an Error that says why it has not. */
  get ready(): Promise<void> {
    return this.#ready;
  }

  /** Replaces the picture after earlier requests have settled. If it fails, the previous picture stays. */
  set(source: ImageSource): Promise<void> {
    this.#ready = this.#ready.catch(() => undefined).then(() => this.#insert(source));
    return this.#ready;
  }

  async #insert(source: ImageSource): Promise<void> {
    const { page } = this.#drawing;
    const sourceFile = await toFile(source);
    const file = isSvg(sourceFile) ? await rasterizeSvg(sourceFile, page) : sourceFile;
    const image = await decodeImage(file);
    const scale = Math.min(page.width / image.width, page.height / image.height);
    const [width, height] = [image.width * scale, image.height * scale];
    image.close();
    const src = toImageDataUrl(file.type, new Uint8Array(await file.arrayBuffer()));
    const frame = { x: page.x + (page.width - width) / 2, y: page.y + (page.height - height) / 2, width, height };
    const editor = new Editor(this.#drawing);
    const { id } = editor.add('image', { ...frame, src, locked: true });
    editor.move([id], 'back');
    if (this.#id !== undefined) editor.remove([this.#id]);
    this.#id = id;
  }
}

async function toFile(source: ImageSource): Promise<Blob> {
  if (source instanceof Blob) return source;
  const url = String(source);
  if (/^\s*<(?:\?xml|!--|!doctype|svg)/i.test(url)) return new Blob([url], { type: SVG_TYPE });
  if (/^data:[^,]*;base64,/i.test(url)) return toBlob(url);
  const text = /^data:(image\/svg\+xml)[^,]*,(.*)$/is.exec(url);
  if (text) return new Blob([decodeURIComponent(text[2] ?? '')], { type: text[1] });
  const response = await fetch(url).catch(() => undefined);
  if (!response?.ok) throw new Error(`Couldn’t load the picture ${url.slice(0, 200)}${response ? ` (HTTP ${response.status})` : ''}.`);
  return response.blob();
}
