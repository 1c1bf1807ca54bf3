/** A module of an area's messages in another language than English, or the list of a language's areas (web/compile-messages.ts). */
const LOCALE_MODULE = /[\\/]\.cache[\\/]messages[\\/](?<area>[\w-]+)[\\/](?!en\.)(?<locale>[\w-]+)\.js$/;
/** Areas of messages that the app's frame with an empty chat uses. */
export const FIRST_AREAS: readonly string[] = ['app-shell', 'app-state', 'chat', 'kit', 'onboarding'];
/** Areas of messages that a chat with content, or pages of several features use. */
const SHARED_AREAS = /^(?:app-.*|kit-.*|annotate-pictures|chat-reply|memory-recall|models|models-setup|onboarding-setup|settings-storage)$/;

export const isMessageModule = (id: string): boolean => /[\\/]\.cache[\\/]messages[\\/]/.test(id);

/** The language of a module of messages; undefined for English, and for other modules. */
export const getModuleLocale = (id: string): string | undefined => LOCALE_MODULE.exec(id)?.groups?.['locale'];

/** Name of the chunk for a module of messages in another language. Null if it is a chunk of its own. */
export function getLocaleChunk(id: string): string | null {
  const { area = '', locale = '' } = LOCALE_MODULE.exec(id)?.groups ?? {};
  if (area === 'locales' || FIRST_AREAS.includes(area)) return `${locale}-first`;
  return SHARED_AREAS.test(area) ? `${locale}-shared` : null;
}
