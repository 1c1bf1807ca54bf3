import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessInfo {
  pid: number;
  parent: number;
  command: string;
}

/** Lists all processes of this machine. Throws if there is no /proc. */
export const listProcesses = (): ProcessInfo[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap(findProcess);

export const findDescendants = (all: readonly ProcessInfo[], pid: number): ProcessInfo[] =>
  all.filter(({ parent }) => parent === pid).flatMap((each) => [each, ...findDescendants(all, each.pid)]);

/** Empty if the process has exited. */
function findProcess(name: string): ProcessInfo[] {
  try {
    const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    return [{ pid: Number(name), parent, command: readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ') }];
  } catch {
    return [];
  }
}

/** Kilobytes, with its share of memory that several processes share. */
export const readPss = (pid: number): number => Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0);

/** Kilobytes of a gateway and of its managed browser; null if the system doesn't report it. */
export function measureGatewayMemory(bridge: number): { bridge: number; browser: number } | null {
  try {
    return { bridge: readPss(bridge), browser: findDescendants(listProcesses(), bridge).reduce((sum, { pid }) => sum + readPss(pid), 0) };
  } catch {
    return null;
  }
}
