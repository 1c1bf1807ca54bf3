import { toClause } from '#shared/clause.ts';
import { type HealthCheck, type DoctorDeps, reportOk, reportProblem } from './doctor-deps.ts';

const FIX_HINT = 'Fix the problem, then restart the channel in Channels (`channels.start`), or turn it off (`channels.stop`).';
const WAIT_HINT =
  'Perch keeps trying. If this doesn’t change, the server is not responding; you can turn the channel off in Channels (`channels.stop`).';

/** Finds enabled channels with problems, and those that are not connected yet. */
export const channelChecks = ({ channels }: Pick<DoctorDeps, 'channels'>): HealthCheck[] => [
  {
    id: 'channels',
    title: 'Channels',
    async run() {
      const all = await channels.list();
      const bad = all.filter(({ problem }) => problem !== undefined);
      // Disabled channels would be `stopped`.
      const absent = all
        .filter(({ status, problem }) => status === 'configured' && problem === undefined)
        .map(({ display_name }) => display_name);
      if (bad.length + absent.length === 0) {
        const running = all.filter((channel) => channel.running).map(({ display_name }) => display_name);
        return reportOk(`Connected: ${running.join(', ')}.`);
      }
      const messages = bad.map(({ display_name, problem = '' }) => `${display_name}: ${toClause(problem)}`);
      if (absent.length > 0) messages.push(`Not connected yet: ${absent.join(', ')}`);
      const failed = bad.some(({ status }) => status === 'error');
      return reportProblem(failed ? 'error' : 'warning', `${messages.join('. ')}.`, bad.length > 0 ? FIX_HINT : WAIT_HINT);
    },
  },
  {
    id: 'channel-access',
    title: 'Channel access',
    async run() {
      const all = (await channels.list()).filter(({ access, status }) => access !== undefined && status !== 'stopped');
      if (all.length === 0) return null;
      const open = all.filter(({ access }) => access === 'everyone').map(({ display_name }) => display_name);
      if (open.length === 0) return reportOk('Only people you let in can write on channels.');
      return reportProblem(
        'warning',
        `Anyone can write to your agents on ${open.join(' and ')}.`,
        'Edit the channel in Channels and choose “Ask each sender” (`allowedUsers`: null).',
      );
    },
  },
];
