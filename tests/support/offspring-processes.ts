import { readdirSync, readFileSync } from 'node:fs';

interface RunningProcess {
  pid: number;
  parent: number;
  /** Unique together with the pid. */
  startTime: string;
  /** Start of its command line. */
  command: string;
  args: string[];
}

/** Identifies the processes of one gateway by a text in their environment or command line, and by descent. */
export class OffspringProcesses {
  readonly #marker: string;
  /** Known processes, by pid and start time: a browser's helpers hide their environment, and lose their parents. */
  readonly #knownIds = new Set<string>();

  constructor(marker: string) {
    this.#marker = marker;
  }

  /** All running processes, with the gateway itself. */
  running(): RunningProcess[] {
    const all = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => readProcess(pid, this.#marker) ?? []);
    const found = new Map(all.filter((each) => each.isMarked || this.#knownIds.has(toProcessId(each))).map((each) => [each.pid, each]));
    for (let before = -1; before < found.size;) {
      before = found.size;
      for (const each of all) if (found.has(each.parent)) found.set(each.pid, each);
    }
    for (const each of found.values()) this.#knownIds.add(toProcessId(each));
    return [...found.values()];
  }
}

const toProcessId = ({ pid, startTime }: RunningProcess): string => `${pid} ${startTime}`;

function readProcess(pid: string, mark: string): (RunningProcess & { isMarked: boolean }) | undefined {
  const text = (name: string): string => readFileSync(`/proc/${pid}/${name}`, 'latin1');
  try {
    const line = text('stat');
    const [state, parent, ...rest] = line.slice(line.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return undefined;
    // Chromium's child processes rewrite their command lines, separated by spaces.
    const args = text('cmdline').split(/[\0 ]/);
    const command = args.join(' ');
    return {
      pid: Number(pid),
      parent: Number(parent),
      startTime: rest[17] ?? '',
      command: command.slice(0, 200),
      args,
      isMarked: command.includes(mark) || text('environ').includes(mark),
    };
  } catch {
    // The process has exited, or belongs to another user.
    return undefined;
  }
}
