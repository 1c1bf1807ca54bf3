import { lazy } from '#shared/async/lazy.ts';
import { Mutex } from '#shared/async/mutex.ts';
import type { PageWorkerProvider } from '#shared/ports/host-api.ts';
import type { AudioConverter } from '../audio/audio-converter.ts';

const loadConvertInPage = lazy(() => import('./convert-in-page.ts'));

/** Converts audio in workers of pages, one file at a time: the codecs of browsers are not available in a SharedWorker. */
export class PageAudioConverter implements AudioConverter {
  readonly #factories = new Map<string, PageWorkerProvider>();
  readonly #mutex = new Mutex();

  /** Adds a page that starts workers, until it closes. */
  addPage(page: string, factory: PageWorkerProvider): void {
    this.#factories.delete(page);
    this.#factories.set(page, factory);
  }

  removePage(page: string): void {
    this.#factories.delete(page);
  }

  convert(...[audio, format, signal]: Parameters<AudioConverter['convert']>): Promise<string> {
    return this.#mutex.take(signal, async () => {
      const { convertInPage } = await loadConvertInPage();
      // The newest page first: it is most likely in the foreground.
      return convertInPage([...this.#factories.values()].reverse(), { audio, format }, signal);
    });
  }
}
