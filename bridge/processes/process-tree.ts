import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Process, processes } from './processes.ts';

/** A command's processes: the root, which leads a group and a session, and an environment entry that all inherit. */
export interface Tree {
  /** Undefined if it is unknown or did not start. */
  pid?: number | undefined;
  mark: string;
}

/** Time for processes to exit after SIGTERM, and for attempts to kill them: less than 2 s in total. */
const GRACE_MS = 1000;
const KILL_MS = 800;
const LOOK_MS = 40;

/**
 * Ends all processes of a tree: SIGTERM first, then SIGKILL. As far as the system can tell, this includes processes in their own group or
 * session and orphans. Resolves when none is left, or after a timeout.
 */
export async function endTree(tree: Tree, look = processes): Promise<void> {
  if (process.platform === 'win32') return endOnWindows(tree);
  const known = new Map<number, string>();
  const members = async (): Promise<Process[]> => {
    const found = membersOf(tree, await look(tree.mark), known);
    for (const { pid, began } of found) known.set(pid, began);
    return found;
  };
  const asked = new Set<number>();
  const gone = async (end: number, name: NodeJS.Signals, again: boolean): Promise<boolean> => {
    // Look twice: a process during exec shows no environment, and one during fork does not show at all.
    for (let empty = 0; ;) {
      const left = await members();
      empty = left.length === 0 ? empty + 1 : 0;
      if (empty === 2) return true;
      for (const { pid } of left) if (again || !asked.has(pid)) signal(pid, name);
      for (const { pid } of left) asked.add(pid);
      if (performance.now() >= end) return false;
      await sleep(LOOK_MS);
    }
  };
  if (await gone(performance.now() + GRACE_MS, 'SIGTERM', false)) return;
  await gone(performance.now() + KILL_MS, 'SIGKILL', true);
}

/** Returns a tree's processes. `known`: start times of processes found earlier, by pid, which identifies orphans. */
export function membersOf({ pid: first }: Tree, all: readonly Process[], known: ReadonlyMap<number, string>): Process[] {
  const isRoot = ({ pid, group, session, began, marked }: Process): boolean =>
    marked || known.get(pid) === began || (first !== undefined && (pid === first || group === first || session === first));
  const found = new Map(all.filter(isRoot).map((each) => [each.pid, each]));
  for (let before = -1; before < found.size;) {
    before = found.size;
    for (const each of all) if (found.has(each.parent)) found.set(each.pid, each);
  }
  // This process itself may have been started with the mark.
  found.delete(process.pid);
  return [...found.values()];
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has ended, or belongs to another user.
  }
}

/** Windows tracks parents and can end a tree by its root. */
function endOnWindows({ pid }: Tree): Promise<void> {
  if (pid === undefined) return Promise.resolve();
  return new Promise((resolve) => execFile('taskkill', taskkillArgs(pid), { windowsHide: true }, () => resolve()));
}

export const taskkillArgs = (pid: number): string[] => ['/PID', String(pid), '/T', '/F'];
