import { createCanvasToolbar } from './canvas-toolbar.ts';
import { InteractiveCanvas } from './interactive-canvas.ts';
import type { ImageOptions } from '../paint/export-image.ts';
import { type ImageCanvasOptions, toImageOptions } from './image-canvas.ts';
import type { AnySpelling } from './spelling-options.ts';
import { TOOLS } from './drawing-tools.ts';
import { type ImageSource, PictureUnderlay } from './picture-underlay.ts';

/** A picture that a person annotates, with a toolbar. The width defaults to 3, the colour to `#d92d20`. */
export class AnnotationCanvas extends InteractiveCanvas {
  readonly #disposal = new AbortController();
  readonly #underlay: PictureUnderlay;

  /** `imageSrc`, `width`, `height`, or an object of them. `ready` resolves when the picture has loaded. */
  constructor(imageSrc: ImageSource, width: number, height: number);
  constructor(options: AnySpelling<ImageCanvasOptions>);
  constructor(...args: readonly unknown[]) {
    const { imageSrc, width, height } = toImageOptions(args);
    super({ width, height }, { color: '#d92d20', width: 3 });
    this.#underlay = new PictureUnderlay(this.drawing, imageSrc);
  }

  /** Resolves when the picture has loaded. Rejects with an Error if it cannot be fetched or read. */
  get ready(): Promise<void> {
    return this.#underlay.ready;
  }

  /** Replaces the picture under the shapes. Rejects with an Error and keeps the previous picture if it cannot be fetched or read. */
  setImage(src: ImageSource): Promise<void> {
    return this.#underlay.set(src);
  }

  /** A bar with every tool, colour, width, undo, redo and clear, to be inserted into the page. */
  buildToolbar(): HTMLElement {
    return createCanvasToolbar(this, TOOLS, { signal: this.#disposal.signal });
  }

  override async capturePng(options: Pick<ImageOptions, 'scale'> = {}): Promise<Uint8Array<ArrayBuffer>> {
    await this.#underlay.ready;
    return super.capturePng(options);
  }

  override async dispose(): Promise<void> {
    this.#disposal.abort();
    await super.dispose();
  }
}
