import { type Task, UNTRUSTED_TASKS } from './honest-tasks.ts';
import { OWN_TASKS } from './own-tasks.ts';
import { World } from './world.ts';

export const TASKS: readonly Task[] = [...UNTRUSTED_TASKS, ...OWN_TASKS];

export interface TaskResult {
  task: Task;
  /** Approvals that the policies alone ask for, and those that are asked for. */
  before: number;
  now: number;
  endedWell: boolean;
}

/** Runs a task twice with the default policies: without provenance, by a grant for everything, and with it. */
export async function runTask(task: Task): Promise<TaskResult> {
  const [before, now] = [await runOnce(task, { '*': ['*'] }), await runOnce(task, {})];
  return { task, before: before.asked, now: now.asked, endedWell: now.endedWell };
}

async function runOnce(task: Task, afterReading: Record<string, string[]>): Promise<{ asked: number; endedWell: boolean }> {
  const isAttended = task.isUnattended !== true;
  await using world = await World.open({ policies: {}, decide: () => (isAttended ? 'approve' : 'deny') });
  await world.client.call('config.patch', { patch: { tools: { afterReading } } });
  await task.run(world);
  return { asked: world.asked.length, endedWell: await task.endsWell(world) };
}
