import type { CitableSource } from '#shared/rpc/passage.ts';

/** A source to show, and the part of its text to highlight. */
export interface ShownSource {
  source: CitableSource;
  /** Offsets in the text of the source; default: all of it. */
  quote?: { start: number; end: number } | undefined;
}

/** The source that is shown next to the page; null if none is. */
class SourceViewer {
  shown = $state.raw<ShownSource | null>(null);

  open(source: CitableSource, quote?: ShownSource['quote']): void {
    this.shown = { source, quote };
  }

  close(): void {
    this.shown = null;
  }
}

export const sourceViewer = new SourceViewer();
