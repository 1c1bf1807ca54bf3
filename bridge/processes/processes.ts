import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** A process of this machine. */
export interface Process {
  pid: number;
  parent: number;
  group: number;
  session: number;
  /** Start time in the system's own unit. Unique together with the pid. */
  began: string;
  /** Whether its environment has the requested mark. */
  marked: boolean;
}

/** Returns all running processes, without zombies. `mark`: entry of an environment, `NAME=value`. */
export function processes(mark: string): Promise<Process[]> {
  return process.platform === 'linux' ? fromProc(mark) : fromPs();
}

async function fromProc(mark: string): Promise<Process[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map((pid) => readProc(pid, mark)));
  return found.filter((each) => each !== undefined);
}

async function readProc(pid: string, mark: string): Promise<Process | undefined> {
  try {
    const [line, environ] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'latin1'),
      // Not readable for other users' processes.
      readFile(`/proc/${pid}/environ`, 'latin1').catch(() => ''),
    ]);
    // The name is in parentheses and may contain any character, including parentheses.
    const [state, parent, group, session, ...rest] = line.slice(line.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return undefined;
    return {
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      session: Number(session),
      began: rest[15] ?? '',
      marked: environ.split('\0').includes(mark),
    };
  } catch {
    // The process has ended.
    return undefined;
  }
}

/** For systems without /proc. Provides no marks or sessions, so a process that has left its group and lost its parent is not found. */
async function fromPs(): Promise<Process[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat=,lstart='], { maxBuffer: 16 * 1024 * 1024 });
  return readPs(stdout);
}

export function readPs(text: string): Process[] {
  return text.split('\n').flatMap((line) => {
    const [, pid, parent, group, state = '', began = ''] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*\S)/.exec(line) ?? [];
    if (pid === undefined || state.startsWith('Z')) return [];
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group), session: 0, began, marked: false }];
  });
}
