import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { readSetting } from '#app/state/read-setting.ts';

/** Settings of text recognition for scanned documents. */
class ScanSettings {
  isLoaded = $state(false);
  isEnabled = $state(true);
  /** Tesseract's language names; null: the app's language and English. */
  languages = $state.raw<readonly string[] | null>(null);
  problem = $state.raw<Problem | null>(null);

  async load(): Promise<void> {
    try {
      const [enabled, languages] = await Promise.all([readSetting('documents.ocr.enabled'), readSetting('documents.ocr.languages')]);
      const languageNames = Array.isArray(languages) ? languages.filter((each) => typeof each === 'string') : null;
      Object.assign(this, {
        isLoaded: true,
        isEnabled: enabled !== false,
        languages: languageNames,
        problem: null,
      } satisfies Partial<ScanSettings>);
    } catch (error) {
      if (!isConnectionLost(error)) this.problem = toProblem(error, m.settings_doing_read_scans());
    }
  }

  async setEnabled(enabled: boolean): Promise<void> {
    await this.#patch({ enabled });
    this.isEnabled = enabled;
  }

  /** Sets the languages; an empty list restores the default. */
  async setLanguages(languages: readonly string[]): Promise<void> {
    const value = languages.length > 0 ? languages : null;
    await this.#patch({ languages: value });
    this.languages = value;
  }

  async #patch(ocr: Record<string, unknown>): Promise<void> {
    await gateway.call('config.patch', { patch: { documents: { ocr } } });
  }
}

export const scanSettings = new ScanSettings();
