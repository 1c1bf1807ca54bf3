import { m } from '../i18n/messages.ts';
import { safeLocalStorage } from './safe-local-storage.ts';
import { GUIDE_MODEL, models } from './models.svelte.ts';

/** The first message to a newly chosen model. */
export const getFirstMessage = (): string => m.onboarding_first_message();

/** Whether the setup of a first model is shown: while the guide is the default, until it is skipped, and on request. */
class Onboarding {
  /** Whether the setup of a local model is open; it stays open after a model was added. */
  isLocalSetupOpen = $state(false);
  /** `asked`, `skipped`, or null if nothing was chosen. */
  #storedChoice = $state(safeLocalStorage.read('onboarding'));
  /** A model was set at the last visit: the setup stays hidden until the list is loaded. */
  readonly hadModel = safeLocalStorage.read('model-seen') !== null;

  readonly #isGuided = $derived(
    models.isLoaded ? models.defaultModel === GUIDE_MODEL || models.list.every(({ key }) => key === GUIDE_MODEL) : !this.hadModel,
  );
  readonly isVisible = $derived(this.isLocalSetupOpen || this.#storedChoice === 'asked' || (this.#storedChoice === null && this.#isGuided));

  /** Stores for the next visit whether a model is set. */
  recordModel(): void {
    if (models.isLoaded) safeLocalStorage.write('model-seen', this.#isGuided ? null : 'yes');
  }

  open(): void {
    this.#setChoice('asked');
  }

  skip(): void {
    this.#setChoice('skipped');
  }

  /** A model was chosen: ends the setup. */
  complete(): void {
    this.#setChoice(null);
  }

  #setChoice(choice: 'asked' | 'skipped' | null): void {
    this.#storedChoice = choice;
    safeLocalStorage.write('onboarding', choice);
  }
}

export const onboarding = new Onboarding();
