import type { Link } from '#shared/link/link.ts';
import type { EventFrame, ResponseFrame } from '#shared/rpc/frames.ts';
import { type TestGateway, until } from './gateway.ts';

/** A connection of a program that writes its own frames. */
export interface Raw {
  link: Link<string>;
  frames: (ResponseFrame | EventFrame)[];
  closed: { code: number; reason: string } | null;
  send(frame: unknown): void;
  answer(id: string): Promise<ResponseFrame>;
}

export function raw(gw: TestGateway, options?: Parameters<TestGateway['link']>[0]): Raw {
  const link = gw.link(options);
  const self: Raw = {
    link,
    frames: [],
    closed: null,
    send: (frame) => link.send(typeof frame === 'string' ? frame : JSON.stringify(frame)),
    async answer(id) {
      const found = (): ResponseFrame | undefined =>
        self.frames.find((frame): frame is ResponseFrame => frame.type === 'res' && frame.id === id);
      await until(() => found() !== undefined, `an answer to ${id}`);
      return found() as ResponseFrame;
    },
  };
  link.receive({
    message: (text) => self.frames.push(JSON.parse(text) as ResponseFrame),
    close: (code, reason) => (self.closed = { code, reason }),
  });
  return self;
}

/** The first frame. */
export const CONNECT = { type: 'req', id: 'c', method: 'connect', params: { minProtocol: 3, maxProtocol: 3, clientName: 'raw' } };

export async function connected(gw: TestGateway, options?: Parameters<TestGateway['link']>[0], params: object = {}): Promise<Raw> {
  const self = raw(gw, options);
  self.send({ ...CONNECT, params: { ...CONNECT.params, ...params } });
  const { ok } = await self.answer('c');
  if (!ok) throw new Error('it did not connect');
  return self;
}

let asked = 0;

/** One request of a program that writes its own JSON: `params` is sent verbatim. */
export async function askRaw(gw: TestGateway, method: string, params: string, protocol = 3): Promise<ResponseFrame> {
  const self = raw(gw);
  const id = `raw-${++asked}`;
  self.send({ ...CONNECT, params: { minProtocol: protocol, maxProtocol: protocol } });
  self.send(`{"type":"req","id":"${id}","method":"${method}","params":${params}}`);
  return self.answer(id).finally(() => self.link.close());
}
