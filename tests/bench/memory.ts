import { readdirSync, readFileSync } from 'node:fs';

export interface Process {
  pid: number;
  parent: number;
  command: string;
}

/** All processes of this machine. Throws where there is no /proc. */
export const processes = (): Process[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap(processOf);

export const below = (all: readonly Process[], pid: number): Process[] =>
  all.filter(({ parent }) => parent === pid).flatMap((each) => [each, ...below(all, each.pid)]);

/** Empty if the process has exited. */
function processOf(name: string): Process[] {
  try {
    const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    return [{ pid: Number(name), parent, command: readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ') }];
  } catch {
    return [];
  }
}

/** Kilobytes: its share of what several processes have. */
export const pssOf = (pid: number): number => Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0);

/** Kilobytes of a gateway and of the browser that it manages; null where the system does not tell. */
export function memoryOf(bridge: number): { bridge: number; browser: number } | null {
  try {
    return { bridge: pssOf(bridge), browser: below(processes(), bridge).reduce((sum, { pid }) => sum + pssOf(pid), 0) };
  } catch {
    return null;
  }
}
