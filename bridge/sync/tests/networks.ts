import { execFileSync } from 'node:child_process';

/** A network namespace with an address that all others can reach. */
export interface Place {
  address: string;
  /** Command that runs a program there; goes before the program's name and arguments. */
  within: readonly string[];
  /** Drops all traffic silently, like a pulled cable. */
  cut(): void;
  join(): void;
}

const ip = (...args: string[]): void => void execFileSync('ip', args, { stdio: 'pipe' });

/**
 * Creates Linux network namespaces joined by a bridge that this machine is connected to as well (ip-netns(8)). Throws if this machine does
 * not permit it.
 */
export function networks(count: number): { places: Place[]; [Symbol.dispose](): void } {
  // Unique per process. Interface names have at most 15 characters.
  const id = (process.pid % 100_000).toString(36);
  const net = `10.${200 + (process.pid % 50)}.${(process.pid >> 6) % 250}`;
  const bridge = `pb${id}`;
  const undo: (() => void)[] = [];
  const dispose = (): void =>
    undo
      .splice(0)
      .reverse()
      .forEach((step) => step());
  try {
    ip('link', 'add', bridge, 'type', 'bridge');
    undo.push(() => ip('link', 'del', bridge));
    ip('addr', 'add', `${net}.254/24`, 'dev', bridge);
    ip('link', 'set', bridge, 'up');
    const places = Array.from({ length: count }, (_, at): Place => {
      const [name, cable] = [`perch-${id}-${at}`, `pv${id}${at}`];
      ip('netns', 'add', name);
      undo.push(() => ip('netns', 'del', name));
      ip('link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
      ip('link', 'set', cable, 'master', bridge, 'up');
      const address = `${net}.${at + 1}`;
      ip('-n', name, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
      for (const device of ['lo', 'eth0']) ip('-n', name, 'link', 'set', device, 'up');
      return {
        address,
        within: ['ip', 'netns', 'exec', name],
        cut: () => ip('link', 'set', cable, 'down'),
        join: () => ip('link', 'set', cable, 'up'),
      };
    });
    return { places, [Symbol.dispose]: dispose };
  } catch (error) {
    dispose();
    throw error;
  }
}
