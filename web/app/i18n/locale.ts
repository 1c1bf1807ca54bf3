import { safeLocalStorage } from '../state/safe-local-storage.ts';

/** Languages of the app, each by its own name. */
export const LOCALES = {
  en: 'English',
  ar: 'العربية',
  de: 'Deutsch',
  es: 'Español',
  fr: 'Français',
  it: 'Italiano',
  ja: '日本語',
  pl: 'Polski',
  'pt-BR': 'Português (Brasil)',
  ru: 'Русский',
  'zh-CN': '简体中文',
} as const;
export type Locale = keyof typeof LOCALES;

const isLocale = (tag: string | null): tag is Locale => tag !== null && Object.hasOwn(LOCALES, tag);

/** Language chosen by the person; null follows the browser. */
export const readChosenLocale = (): Locale | null => {
  const tag = safeLocalStorage.read('locale');
  return isLocale(tag) ? tag : null;
};

/** The first of a browser's languages that the app supports; another region of the same language is better than another language. */
export function findBestLocale(preferred: readonly string[]): Locale {
  for (const tag of preferred) {
    if (isLocale(tag)) return tag;
    const language = tag.split('-', 1)[0] ?? '';
    const close = Object.keys(LOCALES).find((each) => each.split('-', 1)[0] === language);
    if (close !== undefined && isLocale(close)) return close;
  }
  return 'en';
}

/** Language of this page, until it is loaded again. */
export const locale: Locale = readChosenLocale() ?? findBestLocale(globalThis.navigator?.languages ?? []);

/** Reloads the page in the language; unsent drafts are kept, as with any reload. */
export function chooseLocale(tag: Locale | null): void {
  safeLocalStorage.write('locale', tag);
  location.reload();
}

export const getDirection = (tag: Locale): 'ltr' | 'rtl' => (tag === 'ar' ? 'rtl' : 'ltr');
