import { loadWords } from '#lib/i18n/load.ts';

export const load = ({ route }: { route: { id: string | null } }): Promise<void> =>
  loadWords(route.id?.includes('(chat)') ? 'frame' : 'pages');
