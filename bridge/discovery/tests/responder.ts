import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

const LOOPBACK = '127.0.0.1';
const GROUP = '224.0.0.251';
const TTL = 120;
const TYPES = { A: 1, PTR: 12, TXT: 16, SRV: 33 };

/** A fake responder's claims about a service, true or not. */
export interface ResponderClaims {
  /** Name of the service, a single label. */
  name: string;
  port?: number;
  target?: string;
  address?: string;
  txt?: Buffer[];
  /** Suffix of the service's full name. */
  type?: string;
}

const encodeLabel = (text: string): Buffer => Buffer.concat([Buffer.from([Buffer.byteLength(text)]), Buffer.from(text)]);
const encodeName = (labels: readonly string[]): Buffer => Buffer.concat([...labels.map(encodeLabel), Buffer.from([0])]);
const uint16 = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff]);

function encodeRecord(labels: readonly string[], type: keyof typeof TYPES, data: Buffer): Buffer {
  return Buffer.concat([encodeName(labels), uint16(TYPES[type]), uint16(1), uint16(0), uint16(TTL), uint16(data.length), data]);
}

/** Builds a multicast DNS response (RFC 6762) with all four records. */
export function createResponse({
  name,
  port = 7333,
  target = 'a.local',
  address = LOOPBACK,
  txt = [],
  type = '_perch-gw._tcp.local',
}: ResponderClaims): Buffer {
  const service = [name, ...type.split('.')];
  const host = target.split('.');
  const records = [
    encodeRecord('_perch-gw._tcp.local'.split('.'), 'PTR', encodeName(service)),
    encodeRecord(service, 'SRV', Buffer.concat([uint16(0), uint16(0), uint16(port), encodeName(host)])),
    encodeRecord(service, 'TXT', Buffer.concat(txt.map((entry) => Buffer.concat([Buffer.from([entry.length]), entry])))),
    encodeRecord(host, 'A', Buffer.from(address.split('.').map(Number))),
  ];
  return Buffer.concat([uint16(0), uint16(0x8400), uint16(0), uint16(records.length), uint16(0), uint16(0), ...records]);
}

/** Sends these packets on a port of the loopback interface whenever a question is received. */
export async function startHostileResponder(port: number, packets: readonly Buffer[]): Promise<AsyncDisposable> {
  const socket: Socket = createSocket({ type: 'udp4', reuseAddr: true });
  socket.bind(port);
  await once(socket, 'listening');
  socket.addMembership(GROUP, LOOPBACK);
  socket.setMulticastInterface(LOOPBACK);
  socket.on('message', (message) => {
    const isQuery = message.length > 2 && ((message[2] ?? 0) & 0x80) === 0;
    if (isQuery) for (const packet of packets) socket.send(packet, port, GROUP);
  });
  return {
    [Symbol.asyncDispose]: () => new Promise((done) => void socket.close(() => done())),
  };
}

/** A port that no other test uses. */
export async function findFreeUdpPort(): Promise<number> {
  const socket = createSocket('udp4');
  socket.bind(0, LOOPBACK);
  await once(socket, 'listening');
  const { port } = socket.address();
  await new Promise<void>((done) => void socket.close(done));
  return port;
}
