import type { MarkerFilter } from '#shared/citations/marker-filter.ts';
import type { RunSources } from './run-sources.ts';

/** The text of a run without markers, as it arrives. */
export class VisibleText {
  /** Length of the text so far. */
  #length = 0;
  /** Filter of the current step, once there is a source. */
  #filter: MarkerFilter | undefined;
  readonly #sources: RunSources;

  constructor(sources: RunSources) {
    this.#sources = sources;
  }

  /** Offset of the current step in the text. */
  get stepStart(): number {
    return this.#length - (this.#filter?.length ?? 0);
  }

  /** Adds text of the model. Resolves with the part that is certain to be no marker. */
  async push(text: string): Promise<string> {
    if (!this.#filter && !this.#sources.isEmpty) this.#filter = await this.#sources.createFilter();
    return this.#count(this.#filter ? this.#filter.push(text) : text);
  }

  /** Returns the rest of the step. */
  end(): string {
    return this.#count(this.#filter?.end() ?? '');
  }

  /** A new step begins. */
  nextStep(): void {
    this.#filter = undefined;
  }

  #count(text: string): string {
    this.#length += text.length;
    return text;
  }
}
