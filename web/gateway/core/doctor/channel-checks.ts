import { toClause } from '#shared/clause.ts';
import { type Check, type DoctorDeps, fine, wrong } from './deps.ts';

const MEND = 'Fix the problem, then restart the channel in Channels (`channels.start`), or turn it off (`channels.stop`).';
const WAIT =
  'Perch keeps trying. If this doesn’t change, the server is not responding; you can turn the channel off in Channels (`channels.stop`).';

/** Finds enabled channels with problems, and those that are not connected yet. */
export const channelChecks = ({ channels }: Pick<DoctorDeps, 'channels'>): Check[] => [
  {
    id: 'channels',
    title: 'Channels',
    async look() {
      const all = await channels.list();
      const bad = all.filter(({ problem }) => problem !== undefined);
      // Disabled channels would be `stopped`.
      const absent = all.filter(({ status, problem }) => status === 'configured' && problem === undefined).map(({ id }) => id);
      if (bad.length + absent.length === 0) {
        const running = all.filter((channel) => channel.running).map(({ id }) => id);
        return fine(`Connected: ${running.join(', ')}.`);
      }
      const said = bad.map(({ id, problem = '' }) => `${id}: ${toClause(problem)}`);
      if (absent.length > 0) said.push(`Not connected yet: ${absent.join(', ')}`);
      const failed = bad.some(({ status }) => status === 'error');
      return wrong(failed ? 'error' : 'warning', `${said.join('. ')}.`, bad.length > 0 ? MEND : WAIT);
    },
  },
  {
    id: 'channel-access',
    title: 'Channel access',
    async look() {
      const all = (await channels.list()).filter(({ access, status }) => access !== undefined && status !== 'stopped');
      if (all.length === 0) return null;
      const open = all.filter(({ access }) => access === 'everyone').map(({ display_name }) => display_name);
      if (open.length === 0) return fine('Only people you let in can write on channels.');
      return wrong(
        'warning',
        `Anyone can write to your agents on ${open.join(' and ')}.`,
        'Edit the channel in Channels and choose “Ask each sender” (`allowedUsers`: null).',
      );
    },
  },
];
