import * as english from '#words/pages/messages/en.js';
import { m as frame } from './frame.ts';
import { directionOf, type Locale } from './locale.ts';
import { isolating, words } from './words.ts';

type Compiled = typeof english;

const OTHERS: Record<Exclude<Locale, 'en'>, () => Promise<Compiled>> = {
  ar: () => import('#words/pages/messages/ar.js'),
  de: () => import('#words/pages/messages/de.js'),
  es: () => import('#words/pages/messages/es.js'),
  fr: () => import('#words/pages/messages/fr.js'),
  it: () => import('#words/pages/messages/it.js'),
  ja: () => import('#words/pages/messages/ja.js'),
  pl: () => import('#words/pages/messages/pl.js'),
  'pt-BR': () => import('#words/pages/messages/pt-BR.js'),
  ru: () => import('#words/pages/messages/ru.js'),
  'zh-CN': () => import('#words/pages/messages/zh-CN.js'),
};

/** The words of the pages beside the chats, and those of the frame. */
export let m = { ...frame, ...words(english) };

/** After the frame's own. */
export async function loadPages(locale: Locale): Promise<void> {
  if (locale !== 'en') m = { ...frame, ...(directionOf(locale) === 'rtl' ? isolating : words)(await OTHERS[locale]()) };
}
