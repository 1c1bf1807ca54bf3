import { kept } from './kept.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

/** Light, dark, or as the system has it. `public/theme.js` applies the kept choice before the first paint. */
class Appearance {
  theme = $state<Theme>(themeOf(kept.read('theme')));

  constructor() {
    kept.watch('theme', (value) => {
      this.theme = themeOf(value);
      this.#apply();
    });
  }

  choose(theme: Theme): void {
    this.theme = theme;
    kept.write('theme', theme === 'system' ? null : theme);
    this.#apply();
  }

  #apply(): void {
    const root = document.documentElement;
    if (this.theme === 'system') delete root.dataset.theme;
    else root.dataset.theme = this.theme;
  }
}

function themeOf(value: string | null): Theme {
  return THEMES.find((theme) => theme === value) ?? 'system';
}

export const appearance = new Appearance();
