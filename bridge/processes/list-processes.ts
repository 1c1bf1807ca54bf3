import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** A process of this machine. */
export interface ProcessInfo {
  pid: number;
  parent: number;
  group: number;
  session: number;
  /** Start time in the system's own unit. Unique together with the pid. */
  startTime: string;
  /** Whether its environment has the requested mark. */
  hasMark: boolean;
}

/** Returns all running processes, without zombies. `mark`: entry of an environment, `NAME=value`. */
export function listProcesses(mark: string): Promise<ProcessInfo[]> {
  return process.platform === 'linux' ? listFromProc(mark) : listFromPs();
}

async function listFromProc(mark: string): Promise<ProcessInfo[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map((pid) => readProcEntry(pid, mark)));
  return found.filter((each) => each !== undefined);
}

async function readProcEntry(pid: string, mark: string): Promise<ProcessInfo | undefined> {
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
      startTime: rest[15] ?? '',
      hasMark: environ.split('\0').includes(mark),
    };
  } catch {
    // The process has ended.
    return undefined;
  }
}

/** For systems without /proc. Provides no marks or sessions, so a process that has left its group and lost its parent is not found. */
async function listFromPs(): Promise<ProcessInfo[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat=,lstart='], { maxBuffer: 16 * 1024 * 1024 });
  return parsePs(stdout);
}

export function parsePs(text: string): ProcessInfo[] {
  return text.split('\n').flatMap((line) => {
    const [, pid, parent, group, state = '', began = ''] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*\S)/.exec(line) ?? [];
    if (pid === undefined || state.startsWith('Z')) return [];
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group), session: 0, startTime: began, hasMark: false }];
  });
}
