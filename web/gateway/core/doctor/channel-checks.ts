import { type Check, type DoctorDeps, fine, wrong } from './deps.ts';

const MEND = 'Mend what it says. The page Channels tries it at once (`channels.start`), or switches it off (`channels.stop`).';
const WAIT =
  'It is tried again by itself. Where it stays so, its server does not answer: the page Channels switches it off (`channels.stop`).';

/** What is wrong with channels that are switched on, and which of them are not there. */
export const channelChecks = ({ channels }: Pick<DoctorDeps, 'channels'>): Check[] => [
  {
    id: 'channels',
    title: 'Channels',
    async look() {
      const all = await channels.list();
      const bad = all.filter(({ problem }) => problem !== undefined);
      // Switched off they would be `stopped`.
      const absent = all.filter(({ status, problem }) => status === 'configured' && problem === undefined).map(({ id }) => id);
      if (bad.length + absent.length === 0) {
        const running = all.filter((channel) => channel.running).map(({ id }) => id);
        return fine(`All channels that are switched on are well: ${running.join(', ')}.`);
      }
      const said = bad.map(({ id, problem = '' }) => `${id}: ${problem}`);
      if (absent.length > 0) said.push(`Switched on, and not connected yet: ${absent.join(', ')}`);
      const failed = bad.some(({ status }) => status === 'error');
      return wrong(failed ? 'error' : 'warning', `${said.join('. ')}.`, bad.length > 0 ? MEND : WAIT);
    },
  },
];
