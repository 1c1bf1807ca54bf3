import { toolbarOf } from './canvas-toolbar.ts';
import { DrawnCanvas } from './drawn-canvas.ts';
import type { ImageOptions } from '../../paint/export.ts';
import { type ImageCanvasOptions, imageOptionsOf } from './image-canvas.ts';
import type { Spelt } from './spelt.ts';
import { TOOLS } from './tools.ts';
import { type ImageSource, Underlay } from './underlay.ts';

/** A picture that a person annotates, with a toolbar. The width defaults to 3, the colour to `#d92d20`. */
export class AnnotationCanvas extends DrawnCanvas {
  readonly #gone = new AbortController();
  readonly #under: Underlay;

  /** `imageSrc`, `width`, `height`, or an object of them. `ready` resolves when the picture has loaded. */
  constructor(imageSrc: ImageSource, width: number, height: number);
  constructor(options: Spelt<ImageCanvasOptions>);
  constructor(...given: readonly unknown[]) {
    const { imageSrc, width, height } = imageOptionsOf(given);
    super({ width, height }, { color: '#d92d20', width: 3 });
    this.#under = new Underlay(this.drawing, imageSrc);
  }

  /** Resolves when the picture has loaded. Rejects with an Error if it cannot be fetched or read. */
  get ready(): Promise<void> {
    return this.#under.ready;
  }

  /** Replaces the picture under the shapes. Rejects with an Error and keeps the previous picture if it cannot be fetched or read. */
  setImage(src: ImageSource): Promise<void> {
    return this.#under.set(src);
  }

  /** A bar with every tool, colour, width, undo, redo and clear, to put where it is wanted. */
  buildToolbar(): HTMLElement {
    return toolbarOf(this, TOOLS, { signal: this.#gone.signal });
  }

  override async capturePng(options: Pick<ImageOptions, 'scale'> = {}): Promise<Uint8Array<ArrayBuffer>> {
    await this.#under.ready;
    return super.capturePng(options);
  }

  override async dispose(): Promise<void> {
    this.#gone.abort();
    await super.dispose();
  }
}
