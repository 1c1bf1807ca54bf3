import { sha256 } from '#shared/sha256.ts';
import { toRunId } from '../automation/cron/job-runs.ts';
import type { RecordWrite } from '../storage/vault-interface.ts';
import type { RequestOrigin } from '../storage/vault-interface.ts';
import { createChannelState } from '../storage/records/channel-state.ts';
import { PROJECT_DIR } from './demo-bridge.ts';
import { CHECKLIST } from './bird-club.ts';
import { PLAN_STEPS, STEP_RESULTS } from './demo-replies.ts';
import { DAY_MS, getDaysAgo, HOUR_MS, MINUTE_MS } from './demo-time.ts';

/** Principal of the sample API key in usage records. */
export const SAMPLE_KEY_ID = 'demo-key-editor';
/** Number of past runs of the morning schedule. */
const MORNING_RUNS = 12;

const createPlans = (now: number): RecordWrite[] => {
  const started = getDaysAgo(now, 1, '11:15');
  const done = getDaysAgo(now, 9, '16:00');
  const [collected = ''] = STEP_RESULTS;
  const newsletter = ['Collect news from the members', 'Write the draft', 'Ask Ines to read it', 'Send it to all members'];
  return [
    {
      store: 'plans',
      key: 'demo-plan',
      record: {
        ...{ id: 'demo-plan', goal: PLAN_STEPS.goal, status: 'paused', currentStepIndex: 1, agentId: 'main', sessionId: 'plan' },
        steps: PLAN_STEPS.steps.map((description, index) => ({
          ...{ id: `s${index + 1}`, description, status: index === 0 ? ('completed' as const) : ('pending' as const) },
          ...(index === 0 ? { result: collected, startedAt: started, completedAt: started + MINUTE_MS } : {}),
        })),
        ...{ createdAt: started, updatedAt: started + MINUTE_MS },
      },
    },
    {
      store: 'plans',
      key: 'demo-plan-newsletter',
      record: {
        ...{ id: 'demo-plan-newsletter', goal: 'Send the club news', status: 'completed', currentStepIndex: 4 },
        ...{ agentId: 'editor', sessionId: 'newsletter' },
        steps: newsletter.map((description, index) => ({
          ...{
            id: `s${index + 1}`,
            description,
            status: 'completed' as const,
            startedAt: done + index * HOUR_MS,
            completedAt: done + (index + 1) * HOUR_MS,
          },
        })),
        ...{ createdAt: done - DAY_MS, updatedAt: done + 4 * HOUR_MS },
      },
    },
  ];
};

/** Runs of the morning schedule on the last days; one failed, and one was missed. */
export const createMorningRuns = (jobId: string, now: number): RecordWrite[] =>
  Array.from({ length: MORNING_RUNS }, (_, index) => index + 1)
    .filter((days) => ![0, 6].includes(new Date(now - days * DAY_MS).getDay()))
    .map((days, index): RecordWrite => {
      const scheduledAt = getDaysAgo(now, days, '08:00');
      const times = { scheduledAt, startedAt: scheduledAt + 800, completedAt: scheduledAt + 9_000 + index * 700 };
      const run = { id: toRunId(jobId, scheduledAt), jobId, ...times, agentId: 'main' };
      const record =
        index === 3
          ? { ...run, status: 'failed' as const, error: 'The model didn’t answer within 60 seconds.' }
          : index === 5
            ? { ...run, status: 'skipped' as const, error: 'Perch wasn’t running.' }
            : { ...run, status: 'completed' as const };
      return { store: 'jobRuns', key: record.id, record };
    });

const createApprovals = (now: number, origin: RequestOrigin): RecordWrite[] => {
  const asked = getDaysAgo(now, 2, '16:10');
  const common = { agentId: 'main', runId: null, ...origin };
  return [
    {
      store: 'approvals',
      key: 'demo-approval-write',
      record: {
        ...common,
        ...{ id: 'demo-approval-write', tool: 'file_write', args: { path: CHECKLIST.path, content: CHECKLIST.before } },
        ...{ summary: `Writes ${CHECKLIST.path} in the workspace of the main agent.`, sessionId: 'wiki', status: 'approved' },
        ...{ createdAt: asked, expiresAt: asked + 5 * MINUTE_MS, resolvedAt: asked + 40_000 },
      },
    },
    {
      store: 'approvals',
      key: 'demo-approval-remove',
      record: {
        ...common,
        ...{ id: 'demo-approval-remove', tool: 'file_remove', args: { path: 'notes/old-counts.md' }, status: 'denied' },
        ...{ summary: 'Removes notes/old-counts.md from the workspace of the main agent.', sessionId: 'tests' },
        ...{
          createdAt: asked - DAY_MS,
          expiresAt: asked - DAY_MS + 5 * MINUTE_MS,
          resolvedAt: asked - DAY_MS + 12_000,
          reason: 'Keep the old numbers',
        },
      },
    },
  ];
};

/** Plans, decided approvals, a command that is always allowed, an API key, two devices, and what the sample channel counted. */
export async function createDemoRecords(now: number, origin: RequestOrigin): Promise<RecordWrite[]> {
  const policy = await sha256('perch demo git status');
  const secretHash = await sha256(crypto.randomUUID());
  const channel = createChannelState('telegram');
  const devices = [
    {
      id: 'demo-phone',
      name: 'Ines’s phone',
      scopes: ['read' as const, 'write' as const],
      createdAt: getDaysAgo(now, 34),
      lastSeenAt: getDaysAgo(now, 1, '22:15'),
    },
    {
      id: 'demo-display',
      name: 'Screen in the club room',
      scopes: ['read' as const],
      createdAt: getDaysAgo(now, 19),
      lastSeenAt: getDaysAgo(now, 6, '20:40'),
    },
  ];
  return [
    ...createPlans(now),
    ...createApprovals(now, origin),
    {
      store: 'execPolicies',
      key: policy,
      record: {
        hash: policy,
        grantee: 'agent:main',
        command: 'git',
        args: ['status'],
        workingDir: PROJECT_DIR,
        createdAt: getDaysAgo(now, 16),
      },
    },
    {
      store: 'apiKeys',
      key: SAMPLE_KEY_ID,
      record: {
        ...{ id: SAMPLE_KEY_ID, name: 'Code editor', hint: 'q7Zd', scopes: [], areas: ['v1'], tokenHash: secretHash },
        limits: { requestsPerMinute: 60, tokensPerMinute: null, monthlyBudget: 5 },
        ...{ createdAt: getDaysAgo(now, 28), lastUsedAt: getDaysAgo(now, 1, '17:05') },
      },
    },
    ...devices.map((device): RecordWrite => ({
      store: 'devices',
      key: device.id,
      record: { ...device, state: 'paired', publicKey: '', tokenHash: secretHash },
    })),
    {
      store: 'channelStates',
      key: 'telegram',
      record: {
        ...channel,
        metrics: { ...channel.metrics, messages_received: 38, messages_sent: 37, last_message_at: getDaysAgo(now, 1, '21:30') },
      },
    },
  ];
}
