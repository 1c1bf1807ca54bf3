import { type Availability, findBestOptions, getLanguageModel } from '#lib/built-in/language-model.ts';
import { locale } from '#lib/i18n/locale.ts';

/** The model that the browser itself brings, seen from this page. */
class BuiltInModel {
  /** Null before it was looked for. */
  availability = $state<Availability | null>(null);
  /** Share of the download that is complete, 0 to 1; null if this page downloads nothing. */
  progress = $state<number | null>(null);
  readonly #listeners = new Set<() => Promise<unknown>>();
  #download: AbortController | undefined;

  /** Calls back when it can be asked, at once where that is so; the result stops it. */
  onready(listener: () => Promise<unknown>): () => void {
    this.#listeners.add(listener);
    if (this.availability === 'available') void listener();
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when those who wait for it have done what they do then. */
  async refresh(): Promise<void> {
    const model = getLanguageModel();
    const { availability } = model ? await findBestOptions(model, locale) : { availability: 'unavailable' as const };
    if (availability === this.availability) return;
    this.availability = availability;
    if (availability === 'available') await Promise.all([...this.#listeners].map((listener) => listener()));
  }

  /** Has the browser fetch it: at a person's click alone. Rejects with a DOMException; resolves too where it was cancelled. */
  async download(): Promise<void> {
    const model = getLanguageModel();
    if (!model || this.#download) return;
    const fetching = new AbortController();
    this.#download = fetching;
    this.progress = 0;
    try {
      const { wished } = await findBestOptions(model, locale);
      const conversation = await model.create({
        ...wished,
        signal: fetching.signal,
        monitor: (monitor) =>
          monitor.addEventListener('downloadprogress', (event) => {
            this.progress = (event as ProgressEvent).loaded;
          }),
      });
      conversation.destroy();
    } catch (error) {
      if (!fetching.signal.aborted) throw error;
    } finally {
      this.#download = undefined;
      this.progress = null;
      await this.refresh();
    }
  }

  cancelDownload(): void {
    this.#download?.abort();
  }
}

export const builtInModel = new BuiltInModel();
