import { createHash } from 'node:crypto';
import { hostname, networkInterfaces } from 'node:os';
import { PROTOCOL } from '#shared/rpc/limits.ts';
import { SERVICE } from './beacon.ts';
import { type Multicast, type Network, openMulticast } from './multicast.ts';

export interface Advertised {
  port: number;
  /** The gateway's. */
  version: string;
  /** Where it listens: on one address, only that one's network hears of it. */
  bind: string;
  /** Others are served over TLS alone. */
  tls?: boolean;
  /** For tests; else by `bind`. */
  network?: Network;
  log(line: string): void;
}

/** Tells the network that a gateway serves here, until it is disposed of. Rejects where multicast DNS cannot be spoken. */
export async function advertise({ port, version, bind, tls = false, network, log }: Advertised): Promise<Multicast> {
  const everywhere = bind === '0.0.0.0' || bind === '::' || bind.includes(':');
  let failed = false;
  const multicast = await openMulticast(network ?? (everywhere ? {} : { interface: bind }), (error) => {
    // What others send may fail here as often as they like.
    if (!failed) log(`Multicast DNS failed: ${error instanceof Error ? error.message : String(error)}`);
    failed = true;
  });
  const machine = hostname().replace(/\..*/, '').slice(0, 30);
  multicast.bonjour.publish({
    name: `Perch on ${machine} (${port}-${machineMark()})`,
    type: SERVICE,
    port,
    // A name of its own: what answers for the machine's may be another program.
    host: `perch-${machineMark()}-${port}.local`,
    txt: { version, protocol: String(PROTOCOL), ...(tls && { tls: '1' }) },
    disableIPv6: !bind.includes(':'),
    // It would print to the standard output where another has the name, and others may say so at will.
    probe: false,
  });
  return multicast;
}

/** Tells machines of one name apart. */
function machineMark(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  const mac = addresses.find(({ internal }) => !internal)?.mac ?? hostname();
  return createHash('sha256').update(mac).digest('hex').slice(0, 4);
}
