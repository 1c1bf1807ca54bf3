import { readdirSync, readFileSync } from 'node:fs';

export interface Running {
  pid: number;
  parent: number;
  /** With the pid it is unique. */
  began: string;
  /** The beginning of its command line. */
  command: string;
  args: string[];
}

/** Identifies the processes of one gateway by a text in their environment or command line, and by descent. */
export class Offspring {
  readonly #mark: string;
  /** Known processes, by pid and start time: a browser's helpers hide their environment, and lose their parents. */
  readonly #known = new Set<string>();

  constructor(mark: string) {
    this.#mark = mark;
  }

  /** All that run now, with the gateway itself. */
  running(): Running[] {
    const all = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => read(pid, this.#mark) ?? []);
    const found = new Map(all.filter((each) => each.marked || this.#known.has(idOf(each))).map((each) => [each.pid, each]));
    for (let before = -1; before < found.size;) {
      before = found.size;
      for (const each of all) if (found.has(each.parent)) found.set(each.pid, each);
    }
    for (const each of found.values()) this.#known.add(idOf(each));
    return [...found.values()];
  }
}

const idOf = ({ pid, began }: Running): string => `${pid} ${began}`;

function read(pid: string, mark: string): (Running & { marked: boolean }) | undefined {
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
      began: rest[17] ?? '',
      command: command.slice(0, 200),
      args,
      marked: command.includes(mark) || text('environ').includes(mark),
    };
  } catch {
    // The process has exited, or belongs to another user.
    return undefined;
  }
}
