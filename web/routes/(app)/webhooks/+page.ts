import { loadMessages } from '#app/i18n/load-messages.ts';

export const load = loadMessages;
