import english from '#words/frame/messages/en.js';
import type { Locale } from './locale.ts';
import { type LocaleLoaders, loadLocaleMessages, toMessageFunctions } from './message-functions.ts';

const LOADERS: LocaleLoaders<typeof english> = {
  ar: () => import('#words/frame/messages/ar.js'),
  de: () => import('#words/frame/messages/de.js'),
  es: () => import('#words/frame/messages/es.js'),
  fr: () => import('#words/frame/messages/fr.js'),
  it: () => import('#words/frame/messages/it.js'),
  ja: () => import('#words/frame/messages/ja.js'),
  pl: () => import('#words/frame/messages/pl.js'),
  'pt-BR': () => import('#words/frame/messages/pt-BR.js'),
  ru: () => import('#words/frame/messages/ru.js'),
  'zh-CN': () => import('#words/frame/messages/zh-CN.js'),
};

/** Messages that are needed at the start of a visit, as functions. Call them while rendering: when a module is loaded they may still be English. */
export let m = toMessageFunctions(english);

export async function loadFrameMessages(locale: Locale): Promise<void> {
  if (locale !== 'en') m = await loadLocaleMessages(locale, LOADERS);
}
