import { m } from '#lib/i18n/frame-messages.ts';
import { safeLocalStorage } from './safe-local-storage.ts';
import { GUIDE_MODEL, models } from './models.svelte.ts';

/** Asks the chosen model for the first answer that a person sees of it. */
export const getFirstMessage = (): string => m.onboarding_first_message();

export type SetupChoice = 'machine' | 'key';

/** Whether a way to a first model is shown: while the guide answers, also where a server was found and nobody chose its models, until it is skipped; and when it is asked for. */
class Onboarding {
  /** The door that is open: it stays so, also once a model has come through it. */
  openChoice = $state<SetupChoice | null>(null);
  /** `asked`, `skipped`, or null where nobody has said. */
  #storedChoice = $state(safeLocalStorage.read('onboarding'));
  /** A model answered at the last visit: nothing is shown, and taken away again, before the list has come. */
  readonly #hadModel = safeLocalStorage.read('model-seen') !== null;

  readonly #isGuided = $derived(
    models.isLoaded ? models.defaultModel === GUIDE_MODEL || models.list.every(({ key }) => key === GUIDE_MODEL) : !this.#hadModel,
  );
  readonly isVisible = $derived(
    this.openChoice !== null || this.#storedChoice === 'asked' || (this.#storedChoice === null && this.#isGuided),
  );

  /** Notes for the next visit whether a model answers. */
  recordModel(): void {
    if (models.isLoaded) safeLocalStorage.write('model-seen', this.#isGuided ? null : 'yes');
  }

  open(): void {
    this.#setChoice('asked');
  }

  skip(): void {
    this.#setChoice('skipped');
  }

  /** A model has been chosen, which is asked now. */
  complete(): void {
    this.#setChoice(null);
  }

  #setChoice(choice: 'asked' | 'skipped' | null): void {
    this.#storedChoice = choice;
    safeLocalStorage.write('onboarding', choice);
  }
}

export const onboarding = new Onboarding();
