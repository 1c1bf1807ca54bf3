import { RpcError } from '#shared/rpc/errors.ts';
import { DREAM_PHASES, type dreaming } from '#shared/rpc/methods/dreaming.ts';
import type { Agents } from '../agents.ts';
import { requirePerson } from '../approvals/person.ts';
import type { Clock } from '../clock.ts';
import type { Cron } from '../cron/cron.ts';
import type { Handlers } from '../dispatch.ts';
import type { Dreamer } from '../dreamer/dreamer.ts';
import { lazy } from '../lazy.ts';
import type { Settings } from '../settings.ts';
import type { ContentLabels } from '../trust/labels.ts';

export interface DreamingMethodsDeps {
  dreamer(): Promise<Dreamer>;
  cron(): Promise<Cron>;
  agents: Agents;
  settings(): Settings;
  timeZone(): string;
  clock: Pick<Clock, 'now'>;
  labels: ContentLabels;
}

/** Maximum number of runs in a report. */
const MOST_RUNS = 100;

export function dreamingMethods({
  dreamer: load,
  cron,
  agents,
  settings,
  timeZone,
  clock,
  labels,
}: DreamingMethodsDeps): Handlers<typeof dreaming> {
  const status = lazy(() => import('../dreamer/status.ts'));
  const shown = lazy(() => import('../dreamer/dreamer.ts'));
  return {
    'dreaming.status': async ({ agentId }) => {
      const { statusOf } = await status();
      const jobs = async () => (await cron()).jobs.list();
      return statusOf(agentId, { dreamer: await load(), agents, settings, timeZone, jobs, now: () => clock.now() });
    },
    'dreaming.signals': async (params) => (await load()).signals(params),
    'dreaming.run': async ({ agentId, phase }) => {
      const dreamer = await load();
      const { run, done } = await dreamer.begin(agentId, phase === undefined ? DREAM_PHASES : [phase]);
      // Its outcome is recorded in its history.
      done.catch(() => {});
      return { agentId, workspace: (await dreamer.place(agentId)).name, run };
    },
    'dreaming.review': async ({ agentId, state, limit }) => {
      const dreamer = await load();
      const place = await dreamer.place(agentId);
      const { review } = dreamer.phases(place).phases;
      const found = state === 'proposed' ? await review.pending() : (await review.history()).filter((each) => each.state !== 'proposed');
      const { shownProposal } = await shown();
      return { agentId, workspace: place.name, proposals: found.slice(0, limit).map(shownProposal), count: found.length };
    },
    'dreaming.accept': async ({ agentId, contentHash, text, category }, caller) => {
      requirePerson(caller, 'accept suggestions');
      const given = { ...(text === undefined ? {} : { text }), ...(category === undefined ? {} : { category }) };
      return { proposal: await (await load()).decide(agentId, ({ review }) => review.accept(contentHash, given)) };
    },
    'dreaming.reject': async ({ agentId, contentHash, reason }, caller) => {
      requirePerson(caller, 'reject suggestions');
      return { proposal: await (await load()).decide(agentId, ({ review }) => review.reject(contentHash, reason)) };
    },
    'dreaming.restore': async ({ agentId, contentHash }, caller) => {
      requirePerson(caller, 'restore suggestions');
      return { proposal: await (await load()).decide(agentId, ({ review }) => review.restore(contentHash)) };
    },
    'dreaming.history': async ({ agentId, limit }) => {
      const dreamer = await load();
      const place = await dreamer.place(agentId);
      const { runs } = await dreamer.runs(place, limit);
      return { agentId, workspace: place.name, runs, count: runs.length };
    },
    'dreaming.report': async ({ agentId, runId }) => {
      const dreamer = await load();
      const place = await dreamer.place(agentId);
      const run = (await dreamer.runs(place, MOST_RUNS)).runs.find(({ id }) => id === runId);
      if (!run) throw new RpcError('NOT_FOUND', `No run with id "${runId}".`);
      const narrative = run.rem ? ((await place.workspace.read(run.rem.path)) ?? null) : null;
      const origins = run.rem ? await labels.getLinkOrigins('file', `${place.name}/${run.rem.path}`) : {};
      return { agentId, workspace: place.name, run, narrative, ...origins };
    },
  };
}
