import { execFileSync } from 'node:child_process';

/** A network namespace with an address that all others can reach. */
export interface NetworkNamespace {
  address: string;
  /** Command that runs a program there; goes before the program's name and arguments. */
  within: readonly string[];
  /** Drops all traffic silently, like a pulled cable. */
  cut(): void;
  join(): void;
}

const runIp = (...args: string[]): void => void execFileSync('ip', args, { stdio: 'pipe' });

/**
 * Creates Linux network namespaces joined by a bridge that this machine is connected to as well (ip-netns(8)). Throws if this machine does
 * not permit it.
 */
export function createNetworks(count: number): { places: NetworkNamespace[]; [Symbol.dispose](): void } {
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
    runIp('link', 'add', bridge, 'type', 'bridge');
    undo.push(() => runIp('link', 'del', bridge));
    runIp('addr', 'add', `${net}.254/24`, 'dev', bridge);
    runIp('link', 'set', bridge, 'up');
    const places = Array.from({ length: count }, (_, at): NetworkNamespace => {
      const [name, cable] = [`perch-${id}-${at}`, `pv${id}${at}`];
      runIp('netns', 'add', name);
      undo.push(() => runIp('netns', 'del', name));
      runIp('link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
      runIp('link', 'set', cable, 'master', bridge, 'up');
      const address = `${net}.${at + 1}`;
      runIp('-n', name, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
      for (const device of ['lo', 'eth0']) runIp('-n', name, 'link', 'set', device, 'up');
      return {
        address,
        within: ['ip', 'netns', 'exec', name],
        cut: () => runIp('link', 'set', cable, 'down'),
        join: () => runIp('link', 'set', cable, 'up'),
      };
    });
    return { places, [Symbol.dispose]: dispose };
  } catch (error) {
    dispose();
    throw error;
  }
}
