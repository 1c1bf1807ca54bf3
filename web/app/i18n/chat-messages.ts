import english from '#words/later/messages/en.js';
import { m as frame } from './frame-messages.ts';
import type { Locale } from './locale.ts';
import { type LocaleLoaders, loadLocaleMessages, toMessageFunctions } from './message-functions.ts';

const LOADERS: LocaleLoaders<typeof english> = {
  ar: () => import('#words/later/messages/ar.js'),
  de: () => import('#words/later/messages/de.js'),
  es: () => import('#words/later/messages/es.js'),
  fr: () => import('#words/later/messages/fr.js'),
  it: () => import('#words/later/messages/it.js'),
  ja: () => import('#words/later/messages/ja.js'),
  pl: () => import('#words/later/messages/pl.js'),
  'pt-BR': () => import('#words/later/messages/pt-BR.js'),
  ru: () => import('#words/later/messages/ru.js'),
  'zh-CN': () => import('#words/later/messages/zh-CN.js'),
};

/** Messages of a chat that are not needed at its start, and those of the frame. */
export let m = { ...frame, ...toMessageFunctions(english) };

/** Loads the messages; call it after `loadFrameMessages`. */
export async function loadChatMessages(locale: Locale): Promise<void> {
  if (locale !== 'en') m = { ...frame, ...(await loadLocaleMessages(locale, LOADERS)) };
}
