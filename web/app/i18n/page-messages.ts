import english from '#words/pages/messages/en.js';
import { m as chat } from './chat-messages.ts';
import type { Locale } from './locale.ts';
import { type LocaleLoaders, loadLocaleMessages, toMessageFunctions } from './message-functions.ts';

const LOADERS: LocaleLoaders<typeof english> = {
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

/** Messages of the pages other than chats, and all messages of a chat. */
export let m = { ...chat, ...toMessageFunctions(english) };

/** Loads the messages; call it after `loadChatMessages`. */
export async function loadPageMessages(locale: Locale): Promise<void> {
  if (locale !== 'en') m = { ...chat, ...(await loadLocaleMessages(locale, LOADERS)) };
}
