import { type Check, type DoctorDeps, fine, wrong } from './deps.ts';

/** What is wrong with channels that are switched on. */
export const channelChecks = ({ channels }: Pick<DoctorDeps, 'channels'>): Check[] => [
  {
    id: 'channels',
    title: 'Channels',
    async look() {
      const all = await channels.list();
      const bad = all.filter(({ problem }) => problem !== undefined);
      if (bad.length === 0) {
        const running = all.filter((channel) => channel.running).map(({ id }) => id);
        return fine(`All channels that are switched on are well: ${running.join(', ')}.`);
      }
      const said = bad.map(({ id, problem = '' }) => `${id}: ${problem}`).join('. ');
      const failed = bad.some(({ status }) => status === 'error');
      return wrong(
        failed ? 'error' : 'warning',
        `${said}.`,
        'Mend what it says; `channels.start` tries a channel at once, `channels.stop` switches it off.',
      );
    },
  },
];
