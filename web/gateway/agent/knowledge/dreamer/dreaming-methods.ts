import { RpcError } from '#shared/rpc/rpc-error.ts';
import { DREAM_PHASES, type DreamProposal, dreamingContracts } from '#shared/rpc/methods/dreaming-contracts.ts';
import type { Agents } from '../../agents.ts';
import { requirePerson } from '../../../system/person.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { CronJob } from '#shared/rpc/methods/cron-contracts.ts';
import { defineMethods } from '../../../system/methods.ts';
import type { DreamingPhases } from '../../../knowledge/dreaming/dreaming-phases.ts';
import type { Promotion } from '../../../knowledge/dreaming/promotion-log.ts';
import type { Dreamer } from './dreamer.ts';
import { lazy } from '#shared/async/lazy.ts';
import type { Settings } from '../../../config/settings-schema.ts';
import type { ContentLabels } from '../../trust/content-labels.ts';
import type { Lazy } from '../../../system/modules.ts';

interface DreamingMethodsDeps {
  dreamer: Lazy<Dreamer>;
  /** The scheduler. */
  cron: Lazy<{ jobs: { list(): Promise<readonly CronJob[]> } }>;
  agents: Agents;
  settings(): Settings;
  timeZone(): string;
  clock: Pick<Clock, 'now'>;
  labels: ContentLabels;
}

/** Maximum number of runs in a report. */
const MAX_RUNS = 100;

export const dreamingMethods = defineMethods(dreamingContracts)(({
  dreamer,
  cron,
  agents,
  settings,
  timeZone,
  clock,
  labels,
}: DreamingMethodsDeps) => {
  const status = lazy(() => import('./dreaming-status.ts'));
  /** Applies a user's decision on a suggestion. */
  const decide = async (agentId: string, act: (phases: DreamingPhases) => Promise<Promotion>): Promise<DreamProposal> =>
    (await dreamer.load()).decideProposal(agentId, act);
  return {
    'dreaming.status': async ({ agentId }) => {
      const { getDreamingStatus } = await status();
      const jobs = async () => (await cron.load()).jobs.list();
      return getDreamingStatus(agentId, { dreamer: await dreamer.load(), agents, settings, timeZone, jobs, now: () => clock.now() });
    },
    'dreaming.signals': async (params) => (await dreamer.load()).listSignals(params),
    'dreaming.run': async ({ agentId, phase }) => {
      const loaded = await dreamer.load();
      const { run, done } = await loaded.start(agentId, phase === undefined ? DREAM_PHASES : [phase]);
      // Its outcome is recorded in its history.
      done.catch(() => {});
      return { agentId, workspace: (await loaded.openWorkspace(agentId)).name, run };
    },
    'dreaming.review': async ({ agentId, state, limit }) => {
      const loaded = await dreamer.load();
      const target = await loaded.openWorkspace(agentId);
      const { review } = loaded.getPhases(target).phases;
      const found =
        state === 'proposed' ? await review.pending() : (await review.history()).filter((promotion) => promotion.state !== 'proposed');
      const { toProposal } = await import('./dreamer.ts');
      return { agentId, workspace: target.name, proposals: found.slice(0, limit).map(toProposal), count: found.length };
    },
    'dreaming.accept': async ({ agentId, contentHash, text, category }, caller) => {
      requirePerson(caller, 'accept suggestions');
      const fields = { ...(text === undefined ? {} : { text }), ...(category === undefined ? {} : { category }) };
      return { proposal: await decide(agentId, ({ review }) => review.accept(contentHash, fields)) };
    },
    'dreaming.reject': async ({ agentId, contentHash, reason }, caller) => {
      requirePerson(caller, 'reject suggestions');
      return { proposal: await decide(agentId, ({ review }) => review.reject(contentHash, reason)) };
    },
    'dreaming.restore': async ({ agentId, contentHash }, caller) => {
      requirePerson(caller, 'restore suggestions');
      return { proposal: await decide(agentId, ({ review }) => review.restore(contentHash)) };
    },
    'dreaming.history': async ({ agentId, limit }) => {
      const loaded = await dreamer.load();
      const target = await loaded.openWorkspace(agentId);
      const { runs } = await loaded.listRuns(target, limit);
      return { agentId, workspace: target.name, runs, count: runs.length };
    },
    'dreaming.exam': async ({ agentId, limit }, caller) => {
      requirePerson(caller, 'read the exam');
      const loaded = await dreamer.load();
      const target = await loaded.openWorkspace(agentId);
      const questions = await loaded.getPhases(target).phases.listQuestions();
      const shown = questions
        .slice(0, limit)
        .map(({ query: question, expected, statement, by }) => ({ question, expected, statement, by }));
      return { agentId, workspace: target.name, questions: shown, count: questions.length };
    },
    'dreaming.changes': async ({ agentId, state, limit }) => {
      const loaded = await dreamer.load();
      const target = await loaded.openWorkspace(agentId);
      const all = await loaded.getPhases(target).phases.changes.history();
      const found = state === 'all' ? all : all.filter((change) => change.state === state);
      const { toChangeView } = await import('./dreamer.ts');
      return { agentId, workspace: target.name, changes: found.slice(0, limit).map(toChangeView), count: found.length };
    },
    'dreaming.applyChange': async ({ agentId, changeId }, caller) => {
      requirePerson(caller, 'change memory');
      return { change: await (await dreamer.load()).decideChange(agentId, ({ changes }) => changes.apply(changeId)) };
    },
    'dreaming.undoChange': async ({ agentId, changeId }, caller) => {
      requirePerson(caller, 'change memory');
      return { change: await (await dreamer.load()).decideChange(agentId, ({ changes }) => changes.undo(changeId)) };
    },
    'dreaming.dismissChange': async ({ agentId, changeId }, caller) => {
      requirePerson(caller, 'dismiss changes');
      return { change: await (await dreamer.load()).decideChange(agentId, ({ changes }) => changes.dismiss(changeId)) };
    },
    'dreaming.report': async ({ agentId, runId }) => {
      const loaded = await dreamer.load();
      const target = await loaded.openWorkspace(agentId);
      const run = (await loaded.listRuns(target, MAX_RUNS)).runs.find(({ id }) => id === runId);
      if (!run) throw new RpcError('NOT_FOUND', `No run with id "${runId}".`);
      const narrative = run.rem ? ((await target.workspace.read(run.rem.path)) ?? null) : null;
      const origins = run.rem ? await labels.getLinkOrigins('file', `${target.name}/${run.rem.path}`) : {};
      return { agentId, workspace: target.name, run, narrative, ...origins };
    },
  };
});
