import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ProcessInfo, listProcesses } from './list-processes.ts';

/** A command's processes: the root, which leads a group and a session, and an environment entry that all inherit. */
export interface ProcessTree {
  /** Undefined if it is unknown or did not start. */
  pid?: number | undefined;
  mark: string;
}

/** Time for processes to exit after SIGTERM, and for attempts to kill them: less than 2 s in total. */
const GRACE_MS = 1000;
const KILL_MS = 800;
const POLL_MS = 40;

/**
 * Ends all processes of a tree: SIGTERM first, then SIGKILL. As far as the system can tell, this includes processes in their own group or
 * session and orphans. Resolves when none is left, or after a timeout.
 */
export async function endTree(tree: ProcessTree, listAll = listProcesses): Promise<void> {
  if (process.platform === 'win32') return endTreeOnWindows(tree);
  const knownStarts = new Map<number, string>();
  const members = async (): Promise<ProcessInfo[]> => {
    const found = findMembers(tree, await listAll(tree.mark), knownStarts);
    for (const { pid, startTime } of found) knownStarts.set(pid, startTime);
    return found;
  };
  const signaled = new Set<number>();
  const awaitExit = async (end: number, name: NodeJS.Signals, shouldRepeat: boolean): Promise<boolean> => {
    // Look twice: a process during exec shows no environment, and one during fork does not show at all.
    for (let empty = 0; ;) {
      const remaining = await members();
      empty = remaining.length === 0 ? empty + 1 : 0;
      if (empty === 2) return true;
      for (const { pid } of remaining) if (shouldRepeat || !signaled.has(pid)) sendSignal(pid, name);
      for (const { pid } of remaining) signaled.add(pid);
      if (performance.now() >= end) return false;
      await sleep(POLL_MS);
    }
  };
  if (await awaitExit(performance.now() + GRACE_MS, 'SIGTERM', false)) return;
  await awaitExit(performance.now() + KILL_MS, 'SIGKILL', true);
}

/** Returns a tree's processes. `knownStarts`: start times of processes found earlier, by pid, which identifies orphans. */
function findMembers({ pid: first }: ProcessTree, all: readonly ProcessInfo[], knownStarts: ReadonlyMap<number, string>): ProcessInfo[] {
  const isRoot = ({ pid, group, session, startTime, hasMark }: ProcessInfo): boolean =>
    hasMark || knownStarts.get(pid) === startTime || (first !== undefined && (pid === first || group === first || session === first));
  const found = new Map(all.filter(isRoot).map((each) => [each.pid, each]));
  for (let before = -1; before < found.size;) {
    before = found.size;
    for (const each of all) if (found.has(each.parent)) found.set(each.pid, each);
  }
  // This process itself may have been started with the mark.
  found.delete(process.pid);
  return [...found.values()];
}

function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has ended, or belongs to another user.
  }
}

/** Windows tracks parents and can end a tree by its root. */
function endTreeOnWindows({ pid }: ProcessTree): Promise<void> {
  if (pid === undefined) return Promise.resolve();
  return new Promise((resolve) => execFile('taskkill', toTaskkillArgs(pid), { windowsHide: true }, () => resolve()));
}

export const toTaskkillArgs = (pid: number): string[] => ['/PID', String(pid), '/T', '/F'];
