/** Tesseract's language codes for the app's languages. */
const LANGUAGE_BY_LOCALE: Readonly<Record<string, string>> = {
  ar: 'ara',
  de: 'deu',
  en: 'eng',
  es: 'spa',
  fr: 'fra',
  it: 'ita',
  ja: 'jpn',
  pl: 'pol',
  'pt-BR': 'por',
  ru: 'rus',
  'zh-CN': 'chi_sim',
};

/** Languages to recognize if the person has chosen none: the app's, and English. */
export const getDefaultLanguages = (locale: string): string[] => [...new Set([LANGUAGE_BY_LOCALE[locale] ?? 'eng', 'eng'])];
