import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';

/** Resolves on close. `events.once` would reject if the connection is reset. */
export const awaitClose = (socket: Socket): Promise<unknown> => new Promise((resolve) => socket.once('close', resolve));

/** The first request of every connection. */
export const connectFrame = (params: Record<string, unknown>, id = 'c'): string =>
  JSON.stringify({ type: 'req', id, method: 'connect', params: { minProtocol: 3, maxProtocol: 3, ...params } });

/** A raw WebSocket connection: the test decides what it sends, and it is paused until read. */
export async function createRawSocket(url: string): Promise<Socket> {
  const { host, port } = new URL(url);
  const socket = connectTcp(Number(port), '127.0.0.1');
  socket.on('error', () => {});
  socket.write(
    `GET /ws HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
  );
  await once(socket, 'data');
  return socket;
}

/** A frame masked with zero. `length` may claim more bytes than follow. */
export function createRawFrame(opcode: number, payload: Buffer, length = payload.byteLength): Buffer {
  const header = length < 126 ? Buffer.alloc(2) : length < 65536 ? Buffer.alloc(4) : Buffer.alloc(10);
  header[0] = 0x80 | opcode;
  header[1] = 0x80 | (length < 126 ? length : length < 65536 ? 126 : 127);
  if (header.byteLength === 4) header.writeUInt16BE(length, 2);
  if (header.byteLength === 10) header.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([header, Buffer.alloc(4), payload]);
}
