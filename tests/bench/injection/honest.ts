import { type HonestTask, UNTRUSTED_TASKS } from './honest-tasks.ts';
import { OWN_TASKS } from './own-tasks.ts';
import { World } from './injection-world.ts';

export const TASKS: readonly HonestTask[] = [...UNTRUSTED_TASKS, ...OWN_TASKS];

export interface TaskResult {
  task: HonestTask;
  /** Number of approvals that the policies alone require, and of all required approvals. */
  before: number;
  now: number;
  isSuccessful: boolean;
}

/** Runs a task twice with the default policies: without provenance (with a grant for everything), and with it. */
export async function runTask(task: HonestTask): Promise<TaskResult> {
  const [before, now] = [await runOnce(task, { '*': ['*'] }), await runOnce(task, {})];
  return { task, before: before.approvals, now: now.approvals, isSuccessful: now.isSuccessful };
}

async function runOnce(task: HonestTask, afterReading: Record<string, string[]>): Promise<{ approvals: number; isSuccessful: boolean }> {
  const isAttended = task.isUnattended !== true;
  await using world = await World.open({ policies: {}, decide: () => (isAttended ? 'approve' : 'deny') });
  await world.client.call('config.patch', { patch: { tools: { afterReading } } });
  await task.run(world);
  return { approvals: world.approvalRequests.length, isSuccessful: await task.isSuccessful(world) };
}
