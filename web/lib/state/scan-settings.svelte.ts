import { isLost, type Problem, problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { m } from '#lib/i18n/pages.ts';
import { setting } from './setting.ts';

/** Settings of text recognition for scanned documents. */
class ScanSettings {
  loaded = $state(false);
  enabled = $state(true);
  /** Tesseract's names; null: those of the app's language and English. */
  languages = $state.raw<readonly string[] | null>(null);
  problem = $state.raw<Problem | null>(null);

  async load(): Promise<void> {
    try {
      const [enabled, languages] = await Promise.all([setting('documents.ocr.enabled'), setting('documents.ocr.languages')]);
      const chosen = Array.isArray(languages) ? languages.filter((each) => typeof each === 'string') : null;
      Object.assign(this, { loaded: true, enabled: enabled !== false, languages: chosen, problem: null });
    } catch (error) {
      if (!isLost(error)) this.problem = problemOf(error, m.settings_doing_read_scans());
    }
  }

  async enable(enabled: boolean): Promise<void> {
    await this.#patch({ enabled });
    this.enabled = enabled;
  }

  /** None goes back to the default. */
  async chooseLanguages(languages: readonly string[]): Promise<void> {
    const chosen = languages.length > 0 ? languages : null;
    await this.#patch({ languages: chosen });
    this.languages = chosen;
  }

  async #patch(ocr: Record<string, unknown>): Promise<void> {
    await gateway.call('config.patch', { patch: { documents: { ocr } } });
  }
}

export const scanSettings = new ScanSettings();
