import { safeLocalStorage } from '../state/safe-local-storage.ts';

const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

const CONTRASTS = ['system', 'more'] as const;
type Contrast = (typeof CONTRASTS)[number];

/** Theme and contrast: those of the system, or chosen here. `public/theme.js` applies the stored choice before the first paint. */
class Appearance {
  theme = $state<Theme>(parseChoice(THEMES, safeLocalStorage.read('theme')));
  contrast = $state<Contrast>(parseChoice(CONTRASTS, safeLocalStorage.read('contrast')));
  /** Whether contrast is high, by the choice here or by the system. */
  isHighContrast = $state(!import.meta.env.SSR && document.documentElement.dataset.contrast === 'more');
  readonly #contrastQuery = import.meta.env.SSR ? null : matchMedia('(prefers-contrast: more)');

  constructor() {
    if (import.meta.env.SSR) return;
    safeLocalStorage.watch('theme', (value) => {
      this.theme = parseChoice(THEMES, value);
      this.#apply();
    });
    safeLocalStorage.watch('contrast', (value) => {
      this.contrast = parseChoice(CONTRASTS, value);
      this.#apply();
    });
    this.#contrastQuery?.addEventListener('change', () => this.#apply());
  }

  choose({ theme = this.theme, contrast = this.contrast }: { theme?: Theme; contrast?: Contrast }): void {
    Object.assign(this, { theme, contrast });
    safeLocalStorage.write('theme', theme === 'system' ? null : theme);
    safeLocalStorage.write('contrast', contrast === 'system' ? null : contrast);
    this.#apply();
  }

  #apply(): void {
    const { dataset } = document.documentElement;
    if (this.theme === 'system') delete dataset.theme;
    else dataset.theme = this.theme;
    this.isHighContrast = this.contrast === 'more' || this.#contrastQuery?.matches === true;
    if (this.isHighContrast) dataset.contrast = 'more';
    else delete dataset.contrast;
  }
}

function parseChoice<T extends string>(choices: readonly [T, ...T[]], value: string | null): T {
  return choices.find((choice) => choice === value) ?? choices[0];
}

export const appearance = new Appearance();
