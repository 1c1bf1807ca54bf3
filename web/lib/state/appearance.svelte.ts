import { kept } from './kept.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export const CONTRASTS = ['system', 'more'] as const;
export type Contrast = (typeof CONTRASTS)[number];

/** How the app looks: as the system has it, or as chosen here. `public/theme.js` applies what is kept before the first paint. */
class Appearance {
  theme = $state<Theme>(oneOf(THEMES, kept.read('theme')));
  contrast = $state<Contrast>(oneOf(CONTRASTS, kept.read('contrast')));
  /** Whether it is high, whoever wants it so. */
  more = $state(document.documentElement.dataset.contrast === 'more');
  readonly #system = matchMedia('(prefers-contrast: more)');

  constructor() {
    kept.watch('theme', (value) => {
      this.theme = oneOf(THEMES, value);
      this.#apply();
    });
    kept.watch('contrast', (value) => {
      this.contrast = oneOf(CONTRASTS, value);
      this.#apply();
    });
    this.#system.addEventListener('change', () => this.#apply());
  }

  choose({ theme = this.theme, contrast = this.contrast }: { theme?: Theme; contrast?: Contrast }): void {
    Object.assign(this, { theme, contrast });
    kept.write('theme', theme === 'system' ? null : theme);
    kept.write('contrast', contrast === 'system' ? null : contrast);
    this.#apply();
  }

  #apply(): void {
    const { dataset } = document.documentElement;
    if (this.theme === 'system') delete dataset.theme;
    else dataset.theme = this.theme;
    this.more = this.contrast === 'more' || this.#system.matches;
    if (this.more) dataset.contrast = 'more';
    else delete dataset.contrast;
  }
}

function oneOf<T extends string>(choices: readonly [T, ...T[]], value: string | null): T {
  return choices.find((choice) => choice === value) ?? choices[0];
}

export const appearance = new Appearance();
