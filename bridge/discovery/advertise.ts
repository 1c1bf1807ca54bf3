import { createHash } from 'node:crypto';
import { hostname, networkInterfaces } from 'node:os';
import { PROTOCOL_VERSION } from '#shared/rpc/limits.ts';
import { SERVICE } from './beacon.ts';
import { type MulticastSession, type MulticastNetwork, openMulticast } from './multicast.ts';

interface AdvertiseOptions {
  port: number;
  /** Version of the gateway. */
  version: string;
  /** Address that the gateway listens on. With a single address, only its network receives the advertisement. */
  bind: string;
  /** Whether other machines must use TLS. */
  tls?: boolean;
  /** Override for tests; default by `bind`. */
  network?: MulticastNetwork;
  log(line: string): void;
}

/** Advertises a gateway by multicast DNS until disposed. Rejects if multicast DNS is not available. */
export async function advertiseGateway({ port, version, bind, tls = false, network, log }: AdvertiseOptions): Promise<MulticastSession> {
  const everywhere = bind === '0.0.0.0' || bind === '::' || bind.includes(':');
  let failed = false;
  const multicast = await openMulticast(network ?? (everywhere ? {} : { interface: bind }), (error) => {
    // Packets of others can cause any number of errors.
    if (!failed) log(`Multicast DNS failed: ${error instanceof Error ? error.message : String(error)}`);
    failed = true;
  });
  const machine = hostname().replace(/\..*/, '').slice(0, 30);
  multicast.bonjour.publish({
    name: `Perch on ${machine} (${port}-${computeMachineId()})`,
    type: SERVICE,
    port,
    // A separate host name, since another program may answer for the machine's.
    host: `perch-${computeMachineId()}-${port}.local`,
    txt: { version, protocol: String(PROTOCOL_VERSION), ...(tls && { tls: '1' }) },
    disableIPv6: !bind.includes(':'),
    // A probe would print to standard output if the name is taken, which others can claim at will.
    probe: false,
  });
  return multicast;
}

/** Distinguishes machines with the same name. */
function computeMachineId(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  const mac = addresses.find(({ internal }) => !internal)?.mac ?? hostname();
  return createHash('sha256').update(mac).digest('hex').slice(0, 4);
}
