import { discover } from '../discovery/discover.ts';
import { say, sayJson, shownLine } from './output.ts';

const HOW = { mdns: 'multicast DNS', loopback: 'this computer', scan: 'network scan' };

/** `perch gateway discover`: prints the gateways found. Finding none is not an error. */
export async function printDiscovered({
  timeout,
  scan = false,
  json = false,
}: {
  timeout: number;
  scan?: boolean;
  json?: boolean;
}): Promise<void> {
  const warn = (line: string): void => void process.stderr.write(`${line}\n`);
  const beacons = await discover({ timeoutMs: timeout, network: scan, warn });
  if (json) return sayJson({ beacons });
  if (beacons.length === 0) return say(`No gateways found${scan ? '' : '. Use --scan to probe every address of your networks.'}`);
  for (const { name, wsUrl, method } of beacons) say(`${shownLine(wsUrl)}  ${shownLine(name)} (${HOW[method]})`);
}
