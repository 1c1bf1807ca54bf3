interface CanvasAndContext {
  canvas: OffscreenCanvas | null;
  context: OffscreenCanvasRenderingContext2D | null;
}

/** Creates canvases in a worker, for pdf.js. */
export class WorkerCanvasFactory {
  create(width: number, height: number): CanvasAndContext {
    const canvas = new OffscreenCanvas(width, height);
    return { canvas, context: canvas.getContext('2d', { willReadFrequently: true }) };
  }

  reset({ canvas }: CanvasAndContext, width: number, height: number): void {
    if (canvas) Object.assign(canvas, { width, height });
  }

  destroy(drawn: CanvasAndContext): void {
    if (drawn.canvas) Object.assign(drawn.canvas, { width: 0, height: 0 });
    Object.assign(drawn, { canvas: null, context: null });
  }
}

/** Filters need a document, which a worker does not have; recognition works without them. */
export class NoFilterFactory {
  addFilter(): string {
    return 'none';
  }

  addHCMFilter(): string {
    return 'none';
  }

  addAlphaFilter(): string {
    return 'none';
  }

  addLuminosityFilter(): string {
    return 'none';
  }

  addKnockoutFilter(): string {
    return 'none';
  }

  addHighlightHCMFilter(): string {
    return 'none';
  }

  addSelectionHCMFilter(): string {
    return 'none';
  }

  destroy(): void {}
}
