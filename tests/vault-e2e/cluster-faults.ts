import { join } from 'node:path';
import { getProfileHolder } from '../../bridge/headless/browser-profile.ts';
import { OffspringProcesses } from '../support/offspring-processes.ts';
import type { NodeIndex, ThreeNodes } from '../../bridge/sync/tests/three-nodes.ts';
import type { Perch } from '../e2e/perch-process.ts';

/** Faults of one of three gateways or of three NATS nodes, with their relative frequency. */
export const CLUSTER_FAULTS = {
  ...{ worker: 3, bridge: 3, node: 2, leader: 2 },
  ...{ 'pause worker': 1, 'pause bridge': 2, 'pause node': 1 },
  ...{ 'part node': 1, 'part bridge': 1 },
};
export type ClusterFault = keyof typeof CLUSTER_FAULTS;

const getProfilesDir = (perch: Perch): string => join(perch.home, 'profiles');

/** Whether a managed Chromium runs there: in a cluster one gateway has it. */
export const hasManagedBrowser = (perch: Perch): boolean => getProfileHolder(join(getProfilesDir(perch), 'gateway')) !== null;

/** Does it, and undoes it after `ms`; a partition lasts until all is healed. */
export async function injectClusterFault(
  fault: ClusterFault,
  { perch, nats, at, ms }: { perch: Perch; nats: ThreeNodes; at: NodeIndex; ms: number },
): Promise<void> {
  const node = nats.nodes[at];
  switch (fault) {
    case 'worker': {
      // Its bridge starts it again.
      const holder = getProfileHolder(join(getProfilesDir(perch), 'gateway'));
      return signalProcesses(holder ? [holder.pid] : [], 'SIGKILL');
    }
    case 'bridge':
      await perch.kill('SIGKILL');
      await sleep(ms);
      return perch.restart();
    case 'node':
    case 'leader':
      await node.stop();
      await sleep(ms);
      return node.start();
    case 'pause worker': {
      const paused = new OffspringProcesses(getProfilesDir(perch)).running().map(({ pid }) => pid);
      signalProcesses(paused, 'SIGSTOP');
      await sleep(2 * ms);
      return signalProcesses(paused, 'SIGCONT');
    }
    case 'pause bridge':
      signalProcesses([perch.pid], 'SIGSTOP');
      await sleep(2 * ms);
      return signalProcesses([perch.pid], 'SIGCONT');
    case 'pause node':
      node.pause();
      await sleep(2 * ms);
      return node.resume();
    case 'part node':
      return nats.isolate(at);
    case 'part bridge':
      return nats.cutOff(at);
  }
}

function signalProcesses(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      if (pid > 0) process.kill(pid, name);
    } catch {
      // The process has exited in the meantime.
    }
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
