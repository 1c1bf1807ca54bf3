import { loadMessages } from '#app/i18n/load-messages.ts';

export const load = ({ route }: { route: { id: string | null } }): Promise<void> =>
  loadMessages(route.id?.includes('(chat)') ? 'frame' : 'pages');
