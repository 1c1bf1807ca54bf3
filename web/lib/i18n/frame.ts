import * as english from '#words/frame/messages/en.js';
import type * as laterEnglish from '#words/later/messages/en.js';
import { directionOf, type Locale } from './locale.ts';
import { isolating, words } from './words.ts';

type Compiled = typeof english & typeof laterEnglish;

const both = async (first: Promise<typeof english>, later: Promise<typeof laterEnglish>): Promise<Compiled> => ({
  ...(await first),
  ...(await later),
});

/** With what is said later: no part waits for its words once it has come. */
const OTHERS: Record<Exclude<Locale, 'en'>, () => Promise<Compiled>> = {
  ar: () => both(import('#words/frame/messages/ar.js'), import('#words/later/messages/ar.js')),
  de: () => both(import('#words/frame/messages/de.js'), import('#words/later/messages/de.js')),
  es: () => both(import('#words/frame/messages/es.js'), import('#words/later/messages/es.js')),
  fr: () => both(import('#words/frame/messages/fr.js'), import('#words/later/messages/fr.js')),
  it: () => both(import('#words/frame/messages/it.js'), import('#words/later/messages/it.js')),
  ja: () => both(import('#words/frame/messages/ja.js'), import('#words/later/messages/ja.js')),
  pl: () => both(import('#words/frame/messages/pl.js'), import('#words/later/messages/pl.js')),
  'pt-BR': () => both(import('#words/frame/messages/pt-BR.js'), import('#words/later/messages/pt-BR.js')),
  ru: () => both(import('#words/frame/messages/ru.js'), import('#words/later/messages/ru.js')),
  'zh-CN': () => both(import('#words/frame/messages/zh-CN.js'), import('#words/later/messages/zh-CN.js')),
};

/** The words that any visit shows at once, as functions. Ask for them when something is drawn: at a module's start they may still be English. */
export let m = words(english);

export async function loadFrame(locale: Locale): Promise<void> {
  if (locale !== 'en') m = (directionOf(locale) === 'rtl' ? isolating : words)(await OTHERS[locale]());
}
