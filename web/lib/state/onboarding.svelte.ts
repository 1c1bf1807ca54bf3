import { m } from '#lib/i18n/frame.ts';
import { kept } from './kept.ts';
import { GUIDE_MODEL, models } from './models.svelte.ts';

/** Asks the chosen model for the first answer that a person sees of it. */
export const firstMessage = (): string => m.onboarding_first_message();

export type Door = 'machine' | 'key';

/** Whether a way to a first model is shown: while the guide answers, also where a server was found and nobody chose its models, until it is skipped; and when it is asked for. */
class Onboarding {
  /** The door that is open: it stays so, also once a model has come through it. */
  door = $state<Door | null>(null);
  /** `asked`, `skipped`, or null where nobody has said. */
  #choice = $state(kept.read('onboarding'));
  /** A model answered at the last visit: nothing is shown, and taken away again, before the list has come. */
  readonly #hadModel = kept.read('model-seen') !== null;

  readonly #guided = $derived(
    models.loaded ? models.standard === GUIDE_MODEL || models.list.every(({ key }) => key === GUIDE_MODEL) : !this.#hadModel,
  );
  readonly shown = $derived(this.door !== null || this.#choice === 'asked' || (this.#choice === null && this.#guided));

  /** Notes for the next visit whether a model answers. */
  note(): void {
    if (models.loaded) kept.write('model-seen', this.#guided ? null : 'yes');
  }

  ask(): void {
    this.#choose('asked');
  }

  skip(): void {
    this.#choose('skipped');
  }

  /** A model has been chosen, which is asked now. */
  done(): void {
    this.#choose(null);
  }

  #choose(choice: 'asked' | 'skipped' | null): void {
    this.#choice = choice;
    kept.write('onboarding', choice);
  }
}

export const onboarding = new Onboarding();
