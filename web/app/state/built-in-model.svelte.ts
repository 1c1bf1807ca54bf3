import { type Availability, findBestOptions, getLanguageModel } from '../built-in-model/language-model.ts';
import { locale } from '../i18n/locale.ts';

/** The browser's built-in model and its download. */
class BuiltInModel {
  /** Null before the first check. */
  availability = $state<Availability | null>(null);
  /** Share of the download that is complete, 0 to 1; null if this page downloads nothing. */
  progress = $state<number | null>(null);
  readonly #listeners = new Set<() => Promise<unknown>>();
  #download: AbortController | undefined;

  /** Calls the listener when the model is available, immediately if it is already. Returns a function that removes the listener. */
  onready(listener: () => Promise<unknown>): () => void {
    this.#listeners.add(listener);
    if (this.availability === 'available') void listener();
    return () => this.#listeners.delete(listener);
  }

  /** Checks the availability. Resolves when the listeners have settled. */
  async refresh(): Promise<void> {
    const model = getLanguageModel();
    const { availability } = model ? await findBestOptions(model, locale) : { availability: 'unavailable' as const };
    if (availability === this.availability) return;
    this.availability = availability;
    if (availability === 'available') await Promise.all([...this.#listeners].map((listener) => listener()));
  }

  /** Downloads the model, which requires a user gesture. Rejects with a DOMException; resolves if the download was cancelled. */
  async download(): Promise<void> {
    const model = getLanguageModel();
    if (!model || this.#download) return;
    const abort = new AbortController();
    this.#download = abort;
    this.progress = 0;
    try {
      const { options } = await findBestOptions(model, locale);
      const conversation = await model.create({
        ...options,
        signal: abort.signal,
        monitor: (monitor) =>
          monitor.addEventListener('downloadprogress', (event) => {
            this.progress = (event as ProgressEvent).loaded;
          }),
      });
      conversation.destroy();
    } catch (error) {
      if (!abort.signal.aborted) throw error;
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
