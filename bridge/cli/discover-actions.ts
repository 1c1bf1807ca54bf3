import { discoverGateways } from '../discovery/discover-gateways.ts';
import { printLine, printJson, escapeToOneLine } from './terminal-output.ts';

const METHOD_LABELS = { mdns: 'multicast DNS', loopback: 'this computer', scan: 'network scan' };

/** `perch gateway discoverGateways`: prints the gateways found. Finding none is not an error. */
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
  const beacons = await discoverGateways({ timeoutMs: timeout, network: scan, warn });
  if (json) return printJson({ beacons });
  if (beacons.length === 0) return printLine(`No gateways found${scan ? '' : '. Use --scan to probe every address of your networks.'}`);
  for (const { name, wsUrl, method } of beacons)
    printLine(`${escapeToOneLine(wsUrl)}  ${escapeToOneLine(name)} (${METHOD_LABELS[method]})`);
}
